import { cleanText } from '../../domain/plain-text.ts';
import { severities } from '../../domain/severity.ts';
import type { testAlertJson } from '../../views/public-json.ts';
import { type Backend, operatorCommand, printOrdered } from '../backend.ts';
import { type Command, exitCodes, jsonOption } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { byOption, readChoice, requireKnown } from '../read-options.ts';
import { printJson } from '../terminal/output.ts';
import { formatInstant } from '../terminal/text.ts';

/** The wait for an answer: a group's wait, and the time that the receivers take. */
const patienceMs = 60_000;

type Told = Awaited<ReturnType<typeof testAlertJson>>;

export const testAlertCommand: Command = operatorCommand({
  name: 'test-alert',
  summary: 'send an alert that nothing fires the whole way: routes, groups, channels, mentions',
  details: `It goes where a real alert of the rule would go now, wakes who that would wake, says in its title that it is a test, and
resolves a minute later. It is no incident, stops no real alert and stands in no report; the running daemon sends it, or, where none runs,
this command, which then stays until it has ended. For a daemon that runs and does not answer the order is left in the database. A silence holds it as it holds the alert; escalation comes later than its end.
While the database cannot be written none is begun: the next daemon could not end it.

--json prints {"account","rule","severity","resolvesAt","channels":[{"channel","delivered","reason"}]}. Exits with 0 when every channel
that is told at once has it, or where another daemon is to send it (channels is null; an order that was left has "inForce": false), else with 1.`,
  positionals: [{ name: 'ACCOUNT', summary: 'the account', completes: 'accounts' }],
  options: {
    rule: { value: 'ID', summary: 'default: the first about a balance that runs out', completes: 'rules' },
    severity: {
      value: 'SEVERITY',
      summary: `${severities.join(', ')}; default: the worst that the rule reaches`,
      completes: 'severities',
    },
    by: byOption,
    json: jsonOption,
  },
  examples: ['lowwater test-alert otp --severity critical'],
  async run(context, input, backend) {
    const account = requireKnown('account', backend.names.accounts, input.positional('ACCOUNT'));
    const rule = input.option('rule');
    const severity = readChoice(input, 'severity', severities);
    const by = input.option('by') ?? context.user;
    const wanted = {
      account,
      ...(rule === null ? {} : { rule }),
      ...(severity === null ? {} : { severity }),
    };
    const print = (test: Told) => printTold(context, backend, test, input.flag('json'));
    if (backend.daemon === null && backend.settings !== null && !(await isLocked(backend.settings))) {
      let code: number = exitCodes.failed;
      const { sendTestAlert } = await import('../act-here.ts');
      const { testAlertJson: describe } = await import('../../views/public-json.ts');
      await sendTestAlert(
        context,
        { ...backend, settings: backend.settings },
        {
          wanted: { ...wanted, by },
          begun: async (test) => {
            code = await print(await describe(test));
          },
        },
      );
      return code;
    }
    const answer = await backend.order(
      { method: 'POST', path: '/api/v1/test-alerts', body: { ...wanted, by }, patienceMs },
      { wanted: () => ({ kind: 'test-alert', ...wanted }), by },
    );
    // The body has the API's form, because only a lowwater answers there.
    if (answer.kind === 'answered') return print((answer.body as { readonly test: Told }).test);
    return printOrdered(context, input, { about: wanted, sentence: 'The test is ordered.', answer });
  },
});

async function isLocked(settings: NonNullable<Backend['settings']>): Promise<boolean> {
  const { path } = settings.storage;
  return path !== undefined && (await import('../../store/store.ts')).isInUse(path);
}

async function printTold(
  context: CommandContext,
  { timezone }: Backend,
  test: Told,
  asJson: boolean,
): Promise<number> {
  const { account, rule, severity, channels, resolvesAt } = test;
  if (asJson) await printJson(context, test);
  else {
    const rows = (channels ?? []).map(({ channel, delivered, reason }) => {
      const why = cleanText(reason ?? '', 300);
      if (delivered === true) return `  ${channel}: delivered`;
      return `  ${channel}: ${delivered === null ? 'no answer yet' : `not delivered: ${why}`}`;
    });
    const silence = '  no channel: a silence holds it, or no route leads to one (lowwater routes says which)';
    const rest = channels === null ? ['  the daemon that has the accounts sends it'] : rows;
    const until = formatInstant(Date.parse(resolvesAt), timezone);
    await context.stdout.write(
      `${[`TEST of ${account} ${rule}, ${severity}:`, ...(channels?.length === 0 ? [silence] : rest)].join('\n')}\nIt resolves at ${until} (${timezone}).\n`,
    );
  }
  const isTold = channels === null || (channels.length > 0 && channels.every(({ delivered }) => delivered));
  return isTold ? exitCodes.ok : exitCodes.failed;
}
