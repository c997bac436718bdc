import type { OperatorOrder } from '../../domain/operator.ts';
import type { Settings } from '../../domain/settings.ts';
import type { AlertView, Views } from '../../views/views.ts';
import { askDaemon, orderedJsonOption, printOrdered } from '../ask-daemon.ts';
import { type Command, CommandError, type CommandInput, type PositionalSpec } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { byOption, readPerson } from '../read-options.ts';
import { withViews } from '../with-views.ts';

const details = `Acts on the running daemon through its HTTP server when it has one, else on the database, where the daemon notices
within 2 s.

--json prints {"account","rule","acknowledged","inForce"}; \`inForce\` is false where the daemon has yet to take it.`;

const positionals: readonly PositionalSpec[] = [
  { name: 'ACCOUNT', summary: 'the account of the alert' },
  { name: 'RULE', summary: 'its rule' },
];

export const ackCommand: Command = {
  name: 'ack',
  summary: 'take an incident: no reminders and no escalation until it ends or gets worse',
  details,
  positionals,
  options: {
    comment: { value: 'TEXT', summary: 'what you are doing about it' },
    by: byOption,
    json: orderedJsonOption,
  },
  examples: [
    'lowwater ack otp sms-low --comment "top-up ordered"',
    'lowwater ack otp sms-low --by "Ada from finance"',
  ],
  run: (context, input) =>
    withViews(context, input, ({ settings }) => {
      const alert = { account: input.positional('ACCOUNT'), rule: input.positional('RULE') };
      const said = { by: readPerson(context, input), comment: input.option('comment') ?? '' };
      return ({ views }) =>
        orderAbout(context, input, {
          ...alert,
          settings,
          views,
          method: 'POST',
          body: said,
          order: { kind: 'acknowledge', ...alert, ...said, at: context.clock.now() },
        });
    }),
};

export const unackCommand: Command = {
  name: 'unack',
  summary: 'give an incident back: reminders and escalation go on',
  details,
  positionals,
  options: { json: orderedJsonOption },
  examples: ['lowwater unack otp sms-low'],
  run: (context, input) =>
    withViews(context, input, ({ settings }) => {
      const alert = { account: input.positional('ACCOUNT'), rule: input.positional('RULE') };
      return ({ views }) =>
        orderAbout(context, input, {
          ...alert,
          settings,
          views,
          method: 'DELETE',
          order: { kind: 'unacknowledge', ...alert, at: context.clock.now() },
        });
    }),
};

/** Through the daemon's HTTP server, else into the database: what does not fire there is refused here. */
async function orderAbout(
  context: CommandContext,
  input: CommandInput,
  it: {
    readonly settings: Settings;
    readonly views: Views;
    readonly account: string;
    readonly rule: string;
    readonly method: 'POST' | 'DELETE';
    readonly body?: object;
    readonly order: OperatorOrder;
  },
): Promise<number> {
  const { settings, views, account, rule, method, body, order } = it;
  const path = `/api/v1/alerts/${encodeURIComponent(account)}/${encodeURIComponent(rule)}/ack`;
  const answer = await askDaemon(settings.server, { method, path, ...(body === undefined ? {} : { body }) });
  if (answer.kind === 'refused') throw new CommandError(answer.message);
  if (answer.kind === 'absent') {
    const alert = requireFiring(await views.alerts({ all: false }), account, rule);
    if (order.kind === 'unacknowledge' && alert.acknowledged === null)
      throw new CommandError(`nobody has acknowledged ${account} ${rule}`);
    await context.rooms.leaveOrder(settings.storage, order);
  }
  const acknowledged = order.kind === 'acknowledge';
  const sentence = `${account} ${rule} is ${acknowledged ? 'acknowledged' : 'given back'}.`;
  return await printOrdered(context, input, { about: { account, rule, acknowledged }, sentence, answer });
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
