import { resolve } from 'node:path';
import { type Command, exitCodes, UsageError } from '../command.ts';
import type { RunningSimulator } from '../context.ts';
import { readPort } from '../read-options.ts';
import { formatTable } from '../terminal/table.ts';
import { untilAborted } from '../until-aborted.ts';

type SimulatedKeys = RunningSimulator['accounts'][number];

export const simulateCommand: Command = {
  name: 'simulate',
  summary: 'the provider simulator alone',
  details: `Speaks the documented interface of the provider: balances, wrong keys, rate limits, traffic that spends. A scenario file
scripts burn rates, top-ups, outages and wrong answers; without one it plays a built-in story of three accounts in which an
hour passes in a minute. --provider plays the API of a preset of "lowwater providers" instead, with one account that spends 12 an
hour. Prints its address and the keys that it accepts. Ends with SIGINT or SIGTERM.`,
  usesConfiguration: false,
  options: {
    port: { value: 'PORT', summary: 'where to listen; default 9080, 0 takes any free port' },
    host: { value: 'HOST', summary: 'the address to listen on; default 127.0.0.1' },
    scenario: { value: 'FILE', summary: 'the scenario, a JSON file' },
    provider: { value: 'TYPE', summary: 'a preset whose API is played' },
  },
  examples: ['lowwater simulate --port 9080 --scenario outage.json', 'lowwater simulate --provider twilio'],
  run: async (context, input) => {
    const scenario = input.option('scenario');
    const provider = input.option('provider');
    if (provider !== null && scenario !== null) throw new UsageError('--provider takes no --scenario');
    const simulator = await context.rooms.startSimulator({
      host: input.option('host') ?? '127.0.0.1',
      port: readPort(input, 9080),
      scenarioFile: scenario === null ? null : resolve(context.cwd, scenario),
      provider,
    });
    if (simulator.kind === 'refused') {
      throw new UsageError(
        `${provider === null ? 'the scenario' : '--provider'} cannot be used:\n  ${simulator.problems.join('\n  ')}`,
      );
    }
    const { stdout } = context;
    const accounts = formatTable({
      columns: [
        { header: 'ACCOUNT', value: ({ id }) => id },
        ...Object.keys(simulator.accounts[0]?.credentials ?? {}).map((name) => ({
          header: name.toUpperCase(),
          value: ({ credentials }: SimulatedKeys) => credentials[name] ?? '',
        })),
      ],
      rows: simulator.accounts,
      output: stdout,
    });
    await stdout.write(`Provider simulator on ${simulator.url}\n\n${accounts}`);
    await untilAborted(context.signal);
    await simulator.close();
    return exitCodes.ok;
  },
};
