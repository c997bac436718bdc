import { isoText } from '../../domain/time.ts';
import { amountWriter, type Backend, operatorCommand } from '../backend.ts';
import { type Command, type CommandInput, jsonOption } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { readMoment, saidOption } from '../read-options.ts';
import { printRows } from '../terminal/table.ts';
import { formatInstant, instantWidth } from '../terminal/text.ts';
import { announcing, type Own } from './announcing.ts';

export const expectCommand: Command = operatorCommand({
  name: 'expect',
  summary: 'announce a top-up that was ordered; list and cancel what is expected',
  details: `Without arguments it lists the top-ups that people announced and that have not come yet. With ACCOUNT and AMOUNT it announces
one: runway and pay-by dates count on it, the alerts that it ends are acknowledged, and an alert fires where it does not come by the date.
Where a top-up of the balance is expected already it says who ordered it and announces nothing: --again says that this is another payment.

--json prints {"expected":[{"id","account","balance","amount","received","arrivesBy","orderedAt","orderedBy","comment"}]}, or what was
ordered with \`inForce\`, which is false where the daemon has yet to take it.`,
  positionals: [
    { name: 'ACCOUNT', summary: 'the account that is topped up', optional: true, completes: 'accounts' },
    { name: 'AMOUNT', summary: 'how much was ordered, such as 5000', optional: true },
  ],
  options: {
    by: {
      value: 'DATE',
      summary:
        'when it arrives at the latest: 2026-11-26 (its end) or 2026-11-26T17:00; default after leadTime',
    },
    balance: { value: 'NAME', summary: 'default: the first balance of the account' },
    comment: saidOption('TEXT', 'such as an order number'),
    again: { summary: 'another payment, although one is expected already' },
    'ordered-by': saidOption('NAME', 'who ordered it; default the user who types'),
    cancel: {
      value: 'ID',
      summary: 'it does not come, or came unnoticed; the alerts that it took need somebody again',
      completes: 'expected',
    },
    json: jsonOption,
  },
  examples: ['lowwater expect otp 5000 --by 2026-11-26 --comment PO-4711', 'lowwater expect'],
  run: announcing({
    ...{ noun: 'top-up', is: 'expected', path: 'expected-top-ups' },
    known: (views) => views.expected(),
    ...{ announce, list },
  }),
});

async function announce({ user }: CommandContext, input: CommandInput, backend: Backend, own: Own) {
  const { timezone } = backend;
  const arrivesBy = readMoment(input, 'by', timezone, { isEnd: true });
  const expected = input.flag('again') ? (await (await backend.views()).expected()).map(({ id }) => id) : [];
  const until =
    arrivesBy === null ? 'after its lead time' : `by ${formatInstant(arrivesBy, timezone)} (${timezone})`;
  return {
    said: arrivesBy === null ? {} : { arrivesBy: isoText(arrivesBy) },
    // Left out if empty: a daemon of 0.3 does not know `seen`.
    sent: expected.length === 0 ? {} : { seen: expected },
    wanted: {
      ...({ kind: 'expect-top-up', ...own, seen: { expected } } as const),
      ...(arrivesBy === null ? {} : { arrivesBy }),
    },
    by: input.option('ordered-by') ?? user,
    sentence: (amount: string) => `${amount} expected on ${own.account} ${until}.`,
  };
}

async function list(context: CommandContext, input: CommandInput, backend: Backend): Promise<number> {
  const rows = await (await backend.views()).expected();
  const write = await amountWriter(backend, rows);
  return printRows(context, input, {
    rows,
    none: 'No top-up is expected.',
    json: async () => ({ expected: rows.map((await import('../../views/payment-json.ts')).expectedJson) }),
    columns: [
      { header: 'ACCOUNT', value: ({ account }) => account, minWidth: 7 },
      { header: 'BALANCE', rank: 3, value: ({ balance }) => balance },
      { header: 'AMOUNT', align: 'right', value: (topUp) => write(topUp.amountMicros, topUp) },
      { header: 'CAME', align: 'right', rank: 2, value: (topUp) => write(topUp.receivedMicros, topUp) },
      {
        header: `BY (${backend.timezone})`,
        value: ({ by }) => formatInstant(by, backend.timezone),
        minWidth: instantWidth,
      },
      { header: 'ORDERED BY', rank: 4, value: ({ orderedBy }) => orderedBy, minWidth: 8 },
      { header: 'COMMENT', rank: 5, value: ({ comment }) => comment, minWidth: 12 },
      { header: 'ID', rank: 1, value: ({ id }) => id },
    ],
  });
}
