import type { AlertView } from '../../views/views.ts';
import { askDaemon } from '../ask-daemon.ts';
import { type Command, CommandError, exitCodes } from '../command.ts';
import { orderedFromDatabase } from '../left-order.ts';
import { withViews } from '../with-views.ts';

export const ackCommand: Command = {
  name: 'ack',
  summary: 'take an incident: no reminders and no escalation until it ends or gets worse',
  details: `Acts on the running daemon through its HTTP server when it has one, else on the database, where the daemon notices
within 2 s.`,
  positionals: [
    { name: 'ACCOUNT', summary: 'the account of the alert' },
    { name: 'RULE', summary: 'its rule' },
  ],
  options: { comment: { value: 'TEXT', summary: 'what you are doing about it' } },
  examples: ['lowwater ack otp sms-low --comment "top-up ordered"'],
  run: (context, input) =>
    withViews(context, input, async ({ views, settings }) => {
      const account = input.positional('ACCOUNT');
      const rule = input.positional('RULE');
      const order = { by: context.user, comment: input.option('comment') ?? '' };
      const path = `/api/v1/alerts/${encodeURIComponent(account)}/${encodeURIComponent(rule)}/ack`;
      const answer = await askDaemon(settings.server, { method: 'POST', path, body: order });
      if (answer.kind === 'refused') throw new CommandError(answer.message);
      if (answer.kind === 'answered') {
        await context.stdout.write(`${account} ${rule} is acknowledged.\n`);
        return exitCodes.ok;
      }
      refuseUnlessFiring(views.alerts({ all: false }), account, rule);
      const at = context.clock.now();
      await context.rooms.leaveOrder(settings.storage.path, {
        kind: 'acknowledge',
        account,
        rule,
        at,
        ...order,
      });
      await context.stdout.write(`${account} ${rule} is acknowledged. ${orderedFromDatabase}\n`);
      return exitCodes.ok;
    }),
};

function refuseUnlessFiring(alerts: readonly AlertView[], account: string, rule: string): void {
  const firing = alerts.filter(({ state }) => state === 'firing');
  if (firing.some((alert) => alert.account === account && alert.rule === rule)) return;
  const others = firing.slice(0, 10).map((alert) => `${alert.account} ${alert.rule}`);
  throw new CommandError(
    `${account} ${rule} is not firing; ${others.length === 0 ? 'nothing is' : `these are: ${others.join(', ')}`}`,
  );
}
