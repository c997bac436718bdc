import { keyOf } from '../../domain/json.ts';
import type { AlertName } from '../../domain/operator.ts';
import { cleanText } from '../../domain/plain-text.ts';
import type { Wanted } from '../../engine/orders.ts';
import type { AlertView } from '../../views/views.ts';
import { type Backend, operatorCommand, printOrdered } from '../backend.ts';
import { type CommandInput, jsonOption, type PositionalSpec, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { inPath } from '../daemon/daemon-connection.ts';
import { byOption, requireKnown, saidOption } from '../read-options.ts';

const details = `Orders it of the running daemon over HTTP, else leaves the order in the database, where the daemon takes it within 2 s.

--json prints {"account","rule","acknowledged","inForce"}; \`inForce\` is false where the daemon has yet to take it.`;

const positionals: readonly PositionalSpec[] = [
  { name: 'ACCOUNT', summary: 'the account of the alert', completes: 'accounts' },
  {
    name: 'RULE',
    summary: 'its rule; without it, the open alerts of the account are listed',
    optional: true,
    completes: 'alerts',
  },
];

export const ackCommand = operatorCommand({
  name: 'ack',
  summary: 'take an incident: no reminders and no escalation until it ends or gets worse',
  details: `${details} Where somebody has it already, it says who (\`heldBy\` beside them), and nothing is changed.`,
  positionals,
  options: {
    comment: saidOption('TEXT', 'what you are doing about it'),
    by: byOption,
    json: jsonOption,
  },
  examples: [
    'lowwater ack otp sms-low --comment "top-up ordered"',
    'lowwater ack otp sms-low --by "Ada from finance"',
  ],
  async run(context, input, backend) {
    const alert = await requireAlert(backend, input);
    const by = input.option('by') ?? context.user;
    const comment = input.option('comment') ?? '';
    const order = { kind: 'acknowledge', ...alert, comment } as const;
    return orderAbout(context, input, { backend, method: 'POST', by, body: { by, comment }, order });
  },
});

export const unackCommand = operatorCommand({
  name: 'unack',
  summary: 'remove an acknowledgement: reminders and escalation go on',
  details,
  positionals,
  options: { json: jsonOption },
  examples: ['lowwater unack otp sms-low'],
  async run(context, input, backend) {
    const alert = await requireAlert(backend, input);
    const order = { kind: 'unacknowledge', ...alert } as const;
    return orderAbout(context, input, { backend, method: 'DELETE', by: context.user, order });
  },
});

/** The alert that was named. If the rule is missing, throws `UsageError` with a list of the open ones. */
async function requireAlert(backend: Backend, input: CommandInput): Promise<AlertName> {
  const account = input.positional('ACCOUNT');
  const rule = input.optionalPositional('RULE');
  if (rule !== null) return { account, rule };
  if (!account.startsWith('@')) requireKnown('account', backend.names.accounts, account);
  const open = (await readFiring(backend)).filter((alert) => alert.account === account);
  throw new UsageError(
    'RULE is missing',
    open.length === 0 ? `nothing is firing for ${account}` : `firing for ${account}: ${listRules(open)}`,
  );
}

async function readFiring(backend: Backend): Promise<readonly AlertView[]> {
  const alerts = await (await backend.views()).alerts({ all: false });
  return alerts.filter(({ state }) => state === 'firing');
}

function listRules(alerts: readonly AlertView[]): string {
  return alerts
    .map(
      ({ rule, severity, acknowledged }) => `${rule} (${severity}${acknowledged === null ? '' : ', taken'})`,
    )
    .join(', ');
}

/** Gives the order over the daemon's HTTP server, or leaves it in the database. */
async function orderAbout(
  context: CommandContext,
  input: CommandInput,
  request: {
    readonly backend: Backend;
    readonly method: 'POST' | 'DELETE';
    readonly by: string;
    readonly body?: object;
    readonly order: Wanted<'acknowledge'> | Wanted<'unacknowledge'>;
  },
): Promise<number> {
  const { backend, order, by, ...sent } = request;
  const { account, rule } = order;
  const asked = sent.method === 'DELETE' ? `?${new URLSearchParams({ by })}` : '';
  const path = `/api/v1/alerts/${inPath(account)}/${inPath(rule)}/ack${asked}`;
  const answer = await backend.order({ ...sent, path }, { wanted: () => order, by });
  const acknowledged = order.kind === 'acknowledge';
  const heldBy = answer.kind === 'answered' ? keyOf(answer.body, 'heldBy') : null;
  const isHeld = typeof heldBy === 'string';
  const about = { account, rule, acknowledged, ...(isHeld && { heldBy }) };
  const sentence = acknowledged
    ? `${account} ${rule} is acknowledged${isHeld ? ` already, by ${cleanText(heldBy, 60)}: nothing was changed` : ''}.`
    : `Acknowledgement of ${account} ${rule} removed.`;
  return printOrdered(context, input, { about, sentence, answer });
}
