import type { OperatorOrder } from '../../domain/ports.ts';
import type { Settings } from '../../domain/settings.ts';
import type { AlertView, Views } from '../../views/views.ts';
import { askDaemon, orderedFromDatabase } from '../ask-daemon.ts';
import { type Command, CommandError, exitCodes, type PositionalSpec } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { byOption, readPerson } from '../read-options.ts';
import { withViews } from '../with-views.ts';

const details = `Acts on the running daemon through its HTTP server when it has one, else on the database, where the daemon notices
within 2 s.`;

const positionals: readonly PositionalSpec[] = [
  { name: 'ACCOUNT', summary: 'the account of the alert' },
  { name: 'RULE', summary: 'its rule' },
];

export const ackCommand: Command = {
  name: 'ack',
  summary: 'take an incident: no reminders and no escalation until it ends or gets worse',
  details,
  positionals,
  options: { comment: { value: 'TEXT', summary: 'what you are doing about it' }, by: byOption },
  examples: [
    'lowwater ack otp sms-low --comment "top-up ordered"',
    'lowwater ack otp sms-low --by "Ada from finance"',
  ],
  run: (context, input) =>
    withViews(context, input, ({ settings }) => {
      const alert = { account: input.positional('ACCOUNT'), rule: input.positional('RULE') };
      const said = { by: readPerson(context, input), comment: input.option('comment') ?? '' };
      return ({ views }) =>
        orderAbout(context, {
          ...alert,
          settings,
          views,
          method: 'POST',
          body: said,
          order: { kind: 'acknowledge', ...alert, ...said, at: context.clock.now() },
          done: 'is acknowledged',
        });
    }),
};

export const unackCommand: Command = {
  name: 'unack',
  summary: 'give an incident back: reminders and escalation go on',
  details,
  positionals,
  examples: ['lowwater unack otp sms-low'],
  run: (context, input) =>
    withViews(context, input, ({ settings }) => {
      const alert = { account: input.positional('ACCOUNT'), rule: input.positional('RULE') };
      return ({ views }) =>
        orderAbout(context, {
          ...alert,
          settings,
          views,
          method: 'DELETE',
          order: { kind: 'unacknowledge', ...alert, at: context.clock.now() },
          done: 'is given back',
        });
    }),
};

/** Through the daemon's HTTP server, else into the database: what does not fire there is refused here. */
async function orderAbout(
  { stdout, rooms }: CommandContext,
  it: {
    readonly settings: Settings;
    readonly views: Views;
    readonly account: string;
    readonly rule: string;
    readonly method: 'POST' | 'DELETE';
    readonly body?: object;
    readonly order: OperatorOrder;
    readonly done: string;
  },
): Promise<number> {
  const { settings, views, account, rule, method, body, order, done } = it;
  const path = `/api/v1/alerts/${encodeURIComponent(account)}/${encodeURIComponent(rule)}/ack`;
  const answer = await askDaemon(settings.server, { method, path, ...(body === undefined ? {} : { body }) });
  if (answer.kind === 'refused') throw new CommandError(answer.message);
  if (answer.kind === 'absent') {
    const alert = requireFiring(await views.alerts({ all: false }), account, rule);
    if (order.kind === 'unacknowledge' && alert.acknowledged === null)
      throw new CommandError(`nobody has acknowledged ${account} ${rule}`);
    await rooms.leaveOrder(settings.storage, order);
  }
  const later = answer.kind === 'absent' ? ` ${orderedFromDatabase}` : '';
  await stdout.write(`${account} ${rule} ${done}.${later}\n`);
  return exitCodes.ok;
}

function requireFiring(alerts: readonly AlertView[], account: string, rule: string): AlertView {
  const firing = alerts.filter(({ state }) => state === 'firing');
  const found = firing.find((alert) => alert.account === account && alert.rule === rule);
  if (found !== undefined) return found;
  const others = firing.slice(0, 10).map((alert) => `${alert.account} ${alert.rule}`);
  throw new CommandError(
    `${account} ${rule} is not firing; ${others.length === 0 ? 'nothing is' : `these are: ${others.join(', ')}`}`,
  );
}
