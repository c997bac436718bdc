import { describe, expect, it } from 'vitest';
import { accountOf, alertsOf, incidentsOf, notificationsOf } from '../support/api-answers.ts';
import { eventually } from '../support/eventually.ts';
import { withBed } from '../support/run-daemon.ts';

describe.concurrent('the built program, end to end', () => {
  it('tells Slack of a crossing within one poll interval, the group wait and a second', () =>
    withBed({ config: { routes: [{ channels: ['ops'], groupWait: '1s' }] } }, async (bed) => {
      const daemon = await bed.start();
      await eventually('the first reading', async () => (await accountOf(daemon)).outcome === 'ok');
      bed.provider.control.setBalance('otp', 'sms', '120.5');
      const crossedAt = performance.now();
      const post = await eventually('the message', () => bed.slack.posts[0] ?? null);
      // On a quiet machine three seconds; a busy one has its own delays, and the default wait is half a minute.
      expect(post.at - crossedAt).toBeLessThan(10_000);
      expect(post.text).toContain('120.50 CNY');
      expect((await daemon.stop()).code).toBe(0);
    }));

  it('tells Slack and mail that an alert fires, got worse and resolved, all mails in one thread', () =>
    withBed({}, async (bed) => {
      const { control } = bed.provider;
      const daemon = await bed.start();
      await eventually('the first reading', async () => (await accountOf(daemon)).outcome === 'ok');
      control.setBalance('otp', 'sms', '120');
      await eventually('firing', () => bed.slack.posts.length === 1 && bed.mail.count() === 1);
      control.setBalance('otp', 'sms', '18.383000');
      await eventually('worse', () => bed.slack.posts.length >= 2 && bed.mail.count() >= 2);
      control.topUp('otp', 'sms', '500');
      await eventually('resolved', () => bed.slack.posts.at(-1)?.text.includes('RESOLVED') ?? false);
      await eventually('nothing waits', async () => {
        const notifications = await notificationsOf(daemon);
        return notifications.every(({ state }) => state === 'delivered');
      });
      expect(await alertsOf(daemon)).toEqual([]);
      expect((await accountOf(daemon)).balances).toEqual({ sms: '518.383', voip: '40' });
      expect((await daemon.stop()).code).toBe(0);

      const texts = bed.slack.posts.map(({ text }) => text).join('\n');
      expect(texts).toMatch(/120\.00 CNY.*WARNING[\s\S]*18\.38 CNY.*CRITICAL[\s\S]*RESOLVED/);
      const mails = await bed.mail.mails();
      const [first, ...others] = mails;
      expect(others).toHaveLength(2);
      for (const mail of others) {
        expect(mail.inReplyTo).toBe(first?.messageId);
        // The first word is the severity of the moment; the rest is the thread's.
        expect(afterFirstWord(mail.subject)).toBe(afterFirstWord(first?.subject));
        expect(mail.references).toEqual([first?.messageId]);
      }
      expect(first?.subject).not.toMatch(/[[\]]/);
      expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(mails.length);
    }));

  it('sends a message that was not confirmed again under the same id, and marks it delivered once', () => {
    let refusals = 1;
    return withBed(
      { config: { routes: [{ channels: ['hook'], groupWait: '0s' }], channels: {} } },
      async (bed) => {
        bed.configure({ channels: { hook: { type: 'webhook', url: `${bed.slack.origin}/hook` } } });
        bed.slack.behave(() => (refusals-- > 0 ? 'reset' : { status: 204, body: '' }));
        const daemon = await bed.start();
        bed.provider.control.setBalance('otp', 'sms', '1');
        const [lost, again] = await eventually('both attempts', () =>
          bed.slack.posts.length >= 2 ? bed.slack.posts : null,
        );
        expect(again?.headers['webhook-id']).toBe(lost?.headers['webhook-id']);
        await eventually(
          'it is marked',
          async () => (await notificationsOf(daemon))[0]?.state === 'delivered',
        );
        expect(await notificationsOf(daemon)).toMatchObject([{ attempts: 2, lastError: null }]);
        expect(await incidentsOf(daemon)).toHaveLength(1);
        await daemon.stop();
      },
    );
  });
});

function afterFirstWord(subject: string | undefined): string | undefined {
  return subject?.replace(/^\S+ /, '');
}
