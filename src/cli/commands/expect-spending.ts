import { isoText } from '../../domain/time.ts';
import { amountWriter, type Backend, operatorCommand } from '../backend.ts';
import { type Command, type CommandInput, jsonOption, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { readMoment, saidOption } from '../read-options.ts';
import { printRows } from '../terminal/table.ts';
import { formatInstant, instantWidth } from '../terminal/text.ts';
import { announcing, type Own } from './announcing.ts';

export const expectSpendingCommand: Command = operatorCommand({
  name: 'expect-spending',
  summary: 'announce a run: spending beyond the usual; list and cancel what is announced',
  details: `Without arguments it lists the runs that people announced. With ACCOUNT, AMOUNT, --from and --to it announces one: forecasts and pay-by
dates count on it, budgets by the forecast too, it is no surge when it comes, and an alert fires where it does not come or is far off.

--json prints {"announced":[{"id","account","balance","amount","startsAt","endsAt","spent","announcedAt","announcedBy","comment"}]}, or what
was announced with \`inForce\`, which is false where the daemon has yet to take it.`,
  positionals: [
    { name: 'ACCOUNT', summary: 'the account that spends it', optional: true, completes: 'accounts' },
    { name: 'AMOUNT', summary: 'how much beyond the usual, such as 40000', optional: true },
  ],
  options: {
    from: { value: 'DATE', summary: 'when it begins: 2026-12-01 (its begin) or 2026-12-01T08:00' },
    to: { value: 'DATE', summary: 'when it ends: 2026-12-01 (its end) or 2026-12-01T18:00' },
    balance: { value: 'NAME', summary: 'default: the first balance of the account' },
    comment: saidOption('TEXT', 'what it is'),
    by: saidOption('NAME', 'who announces it; default the user who types'),
    cancel: { value: 'ID', summary: 'it does not come' },
    json: jsonOption,
  },
  examples: ['lowwater expect-spending otp 40000 --from 2026-12-01T08:00 --to 2026-12-01T18:00'],
  run: announcing({
    ...{ noun: 'run', is: 'announced', path: 'expected-spending' },
    known: (views) => views.announced(),
    ...{ announce, list },
  }),
});

function announce({ user }: CommandContext, input: CommandInput, { timezone }: Backend, own: Own) {
  const startsAt = readMoment(input, 'from', timezone);
  const endsAt = readMoment(input, 'to', timezone, { isEnd: true });
  if (startsAt === null || endsAt === null)
    throw new UsageError('--from and --to are needed: when it begins and when it ends');
  if (endsAt <= startsAt) throw new UsageError('--to must be after --from');
  const [from, to] = [startsAt, endsAt].map((at) => formatInstant(at, timezone));
  return {
    said: { startsAt: isoText(startsAt), endsAt: isoText(endsAt) },
    wanted: { kind: 'expect-spending', ...own, startsAt, endsAt } as const,
    by: input.option('by') ?? user,
    sentence: (amount: string) =>
      `${amount} beyond the usual announced on ${own.account}, ${from} to ${to} (${timezone}).`,
  };
}

async function list(context: CommandContext, input: CommandInput, backend: Backend): Promise<number> {
  const rows = await (await backend.views()).announced();
  const write = await amountWriter(backend, rows);
  const when = (at: number): string => formatInstant(at, backend.timezone);
  return printRows(context, input, {
    rows,
    none: 'No run is announced.',
    json: async () => ({ announced: rows.map((await import('../../views/payment-json.ts')).announcedJson) }),
    columns: [
      { header: 'ACCOUNT', value: ({ account }) => account, minWidth: 7 },
      { header: 'BALANCE', rank: 4, value: ({ balance }) => balance },
      { header: 'AMOUNT', align: 'right', value: (run) => write(run.amountMicros, run) },
      {
        header: `FROM (${backend.timezone})`,
        value: ({ startsAt }) => when(startsAt),
        minWidth: instantWidth,
      },
      { header: 'TO', rank: 2, value: ({ endsAt }) => when(endsAt) },
      { header: 'SPENT', align: 'right', rank: 3, value: (run) => write(run.spentMicros, run) },
      { header: 'COMMENT', rank: 5, value: ({ comment }) => comment, minWidth: 12 },
      { header: 'ID', rank: 1, value: ({ id }) => id },
    ],
  });
}
