import { isSelfId } from '../../domain/alert.ts';
import { labelNamePattern, type Matcher, mutesEverything, wordMatcher } from '../../domain/rule.ts';
import { severities } from '../../domain/severity.ts';
import { isoText } from '../../domain/time.ts';
import { operatorCommand, printOrdered } from '../backend.ts';
import { type CommandInput, jsonOption, UsageError } from '../command.ts';
import { inPath } from '../daemon/daemon-connection.ts';
import {
  byOption,
  readChoice,
  readDuration,
  requireKnown,
  requireRule,
  saidOption,
} from '../read-options.ts';
import { printRows } from '../terminal/table.ts';
import { formatInstant, instantWidth } from '../terminal/text.ts';

export const silenceAddCommand = operatorCommand({
  name: 'silence add',
  summary: 'mute matching alerts for a while',
  details: `Alerts that match all that is given send nothing until the silence ends. One that still fires then is sent then. Everything
is muted only by --everything, which stands alone. Prints the id of the silence.

--json prints {"id","match","startsAt","endsAt","by","comment","inForce"}; \`inForce\` is false where the daemon has yet to take it.`,
  options: {
    account: { value: 'ID', summary: 'only alerts of this account', completes: 'accounts' },
    rule: { value: 'ID', summary: 'only alerts of this rule', completes: 'rules' },
    severity: {
      value: 'WORD',
      summary: `only alerts of this severity: ${severities.join(', ')}`,
      completes: 'severities',
    },
    label: {
      value: 'KEY=VALUE',
      summary: 'only accounts with this label; may be repeated',
      repeatable: true,
    },
    everything: { summary: 'every alert of every account' },
    for: { value: 'DURATION', summary: 'how long, such as 2h; required' },
    comment: saidOption('TEXT', 'why'),
    by: byOption,
    json: jsonOption,
  },
  examples: [
    'lowwater silence add --account marketing --for 2h --comment "campaign is paused"',
    'lowwater silence add --label team=growth --severity info --for 1d',
  ],
  async run(context, input, backend) {
    const durationMs = readDuration(input, 'for');
    if (durationMs === null)
      throw new UsageError('--for is missing: how long the silence lasts, such as --for 2h');
    const account = input.option('account');
    if (account !== null && !isSelfId(account)) requireKnown('account', backend.names.accounts, account);
    const rule = input.option('rule');
    if (rule !== null) await requireRule(backend.names, rule);
    const match = readMatcher(input);
    const everything = input.flag('everything');
    checkMatcher(match, everything);
    const comment = input.option('comment') ?? '';
    const by = input.option('by') ?? context.user;
    const startsAt = context.clock.now();
    const endsAt = startsAt + durationMs;
    const said = { match, startsAt: isoText(startsAt), endsAt: isoText(endsAt), by, comment };
    const body = { ...said, ...(everything ? { everything } : {}) };
    const left = `s-${context.random.id()}`;
    const answer = await backend.order(
      { method: 'POST', path: '/api/v1/silences', body },
      { wanted: () => ({ kind: 'silence', id: left, match, everything, startsAt, endsAt, comment }), by },
    );
    const id = answer.kind === 'answered' ? idOf(answer.body) : left;
    const until = `${formatInstant(endsAt, backend.timezone)} (${backend.timezone})`;
    const sentence = `Silence ${id}: ${wordMatcher(match)} until ${until}.`;
    return printOrdered(context, input, { about: { id, ...said }, sentence, answer });
  },
});

export const silenceListCommand = operatorCommand({
  name: 'silence list',
  summary: 'silences that are not over',
  details: `Those made by people, and the present or next window of those in the configuration (without an id).

--json prints {"silences":[{"id","match","startsAt","endsAt","by","comment","active"}]}.`,
  options: { json: jsonOption },
  async run(context, input, backend) {
    const rows = await (await backend.views()).silences();
    const { style } = context.stdout;
    return printRows(context, input, {
      rows,
      none: 'Nothing is silenced.',
      json: async () => ({ silences: rows.map((await import('../../views/public-json.ts')).silenceJson) }),
      columns: [
        {
          header: 'STATE',
          value: ({ active }) => (active ? 'active' : 'to come'),
          paint: ({ active }, cell) => (active ? style.bold(cell) : cell),
        },
        { header: 'MATCHES', value: ({ match }) => wordMatcher(match), minWidth: 14 },
        { header: 'FROM', rank: 2, value: ({ startsAt }) => formatInstant(startsAt, backend.timezone) },
        {
          header: `UNTIL (${backend.timezone})`,
          value: ({ endsAt }) => formatInstant(endsAt, backend.timezone),
          minWidth: instantWidth,
        },
        { header: 'BY', rank: 4, value: ({ by }) => by, minWidth: 8 },
        { header: 'COMMENT', rank: 3, value: ({ comment }) => comment, minWidth: 12 },
        { header: 'ID', rank: 1, value: ({ id }) => id ?? '' },
      ],
    });
  },
});

export const silenceExpireCommand = operatorCommand({
  name: 'silence expire',
  summary: 'end a silence now',
  details: '--json prints {"id","inForce"}; `inForce` is false where the daemon has yet to take it.',
  positionals: [{ name: 'ID', summary: 'its id, as "silence list" prints it', completes: 'silences' }],
  options: { json: jsonOption },
  async run(context, input, backend) {
    const id = input.positional('ID');
    const by = context.user;
    const path = `/api/v1/silences/${inPath(id)}?${new URLSearchParams({ by })}`;
    const answer = await backend.order(
      { method: 'DELETE', path },
      { wanted: () => ({ kind: 'expire', id }), by },
    );
    return printOrdered(context, input, { about: { id }, sentence: `Silence ${id} has ended.`, answer });
  },
});

function readMatcher(input: CommandInput): Matcher {
  const labels = readLabels(input);
  const account = input.option('account');
  const rule = input.option('rule');
  const severity = readChoice(input, 'severity', severities);
  return {
    ...(account === null ? {} : { account: [account] }),
    ...(rule === null ? {} : { rule: [rule] }),
    ...(severity === null ? {} : { severity: [severity] }),
    ...(labels === null ? {} : { labels }),
  };
}

function readLabels(input: CommandInput): NonNullable<Matcher['labels']> | null {
  const pairs = input.options('label').map((text) => {
    const cut = text.indexOf('=');
    if (cut < 1) throw new UsageError(`--label ${text}: write it as key=value`);
    const key = text.slice(0, cut);
    if (!labelNamePattern.test(key)) throw new UsageError(`--label ${text}: no label can be called "${key}"`);
    return { key, value: text.slice(cut + 1) };
  });
  if (pairs.length === 0) return null;
  const values = Map.groupBy(pairs, ({ key }) => key);
  return Object.fromEntries([...values].map(([key, list]) => [key, list.map(({ value }) => value)]));
}

/** Throws if nothing narrows the silence down and `everything` is not set, or the reverse: nobody should mute all alerts by an omission. */
function checkMatcher(match: Matcher, everything: boolean): void {
  if (mutesEverything(match) === everything) return;
  throw everything
    ? new UsageError('--everything stands alone: it mutes what the others narrow down')
    : new UsageError(
        'what to mute is missing: --account, --rule, --severity or --label',
        'if every alert of every account is meant: --everything',
      );
}

function idOf(body: unknown): string {
  const { silence } = body as { readonly silence?: { readonly id?: unknown } };
  return typeof silence?.id === 'string' ? silence.id : '(no id)';
}
