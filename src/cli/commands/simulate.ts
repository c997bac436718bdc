import { resolve } from 'node:path';
import { largestDocumentBytes, readFileSource } from '../../config/sources.ts';
import { parseJson } from '../../domain/json.ts';
import { ownOf } from '../../domain/own.ts';
import type { HttpService, ServiceAddress } from '../../net/http-service.ts';
import type { Scenario } from '../../simulator/scenario.ts';
import { type Command, CommandError, exitCodes, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { readPort } from '../read-options.ts';
import { formatTable } from '../terminal/table.ts';
import { untilAborted } from '../until-aborted.ts';

interface SimulatedKeys {
  readonly id: string;
  readonly credentials: Readonly<Record<string, string>>;
}

interface Playing extends Pick<HttpService, 'url' | 'close'> {
  readonly accounts: readonly SimulatedKeys[];
}

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
    const place = { host: input.option('host') ?? '127.0.0.1', port: readPort(input, 9080) };
    const simulator = await (provider === null
      ? playScenario(context, place, scenario === null ? null : resolve(context.cwd, scenario))
      : playPreset(context, place, provider)
    ).catch((error: unknown) => {
      throw explainListenError(error, `${place.host}:${place.port}`);
    });
    const { stdout } = context;
    const accounts = formatTable({
      columns: [
        { header: 'ACCOUNT', value: ({ id }) => id },
        ...Object.keys(simulator.accounts[0]?.credentials ?? {}).map((name) => ({
          header: name.toUpperCase(),
          value: ({ credentials }: SimulatedKeys) => ownOf(credentials, name) ?? '',
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

/** Plays a scenario; null plays the built-in one. */
async function playScenario(
  { clock, random }: CommandContext,
  place: ServiceAddress,
  file: string | null,
): Promise<Playing> {
  const { defaultScenario } = await import('../../simulator/scenario.ts');
  const { startSimulator } = await import('../../simulator/server.ts');
  const scenario = file === null ? defaultScenario : await readScenario(file);
  const simulator = await startSimulator({ ...place, scenario, clock, random });
  const accounts = scenario.accounts.map(({ id, authSecret }) => ({ id, credentials: { authSecret } }));
  return { ...simulator, accounts };
}

async function playPreset({ clock }: CommandContext, place: ServiceAddress, type: string): Promise<Playing> {
  const { presetKinds } = await import('../../providers/presets/preset-kinds.ts');
  const { startDemoApi } = await import('../../simulator/simulated-api.ts');
  const kind = presetKinds.find((each) => each.type === type);
  const started = kind && (await startDemoApi(kind, { ...place, spentPerHour: 12_000_000, clock }));
  if (!started) throw refuse('--provider', [`"${type}" is no preset; "lowwater providers" lists them`]);
  const { api, account } = started;
  return { ...api, accounts: [{ id: `${type}-main`, credentials: account.credentials }] };
}

async function readScenario(path: string): Promise<Scenario> {
  const { parseScenario } = await import('../../simulator/scenario.ts');
  const { content: file } = await readFileSource(path, largestDocumentBytes);
  if ('failed' in file) throw refuse('the scenario', [`${path}: ${file.failed}`]);
  const json = parseJson(file.text);
  if (json === undefined) throw refuse('the scenario', [`${path} is not JSON`]);
  const parsed = parseScenario(json);
  if (parsed.kind === 'valid') return parsed.scenario;
  throw refuse('the scenario', parsed.problems);
}

function refuse(what: string, problems: readonly string[]): UsageError {
  return new UsageError(`${what} cannot be used:\n  ${problems.join('\n  ')}`);
}

/** An address on which the server cannot listen is for a person to change. Any other error stays as it is. */
function explainListenError(error: unknown, address: string): unknown {
  const code = error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : null;
  if (code === 'EADDRINUSE') return new CommandError(`cannot listen on ${address}: another program does`);
  return code === null ? error : new CommandError(`cannot listen on ${address}: ${code}`);
}
