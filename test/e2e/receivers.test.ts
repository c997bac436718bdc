import { describe, expect, it } from 'vitest';
import {
  type ApiNotification,
  accountOf,
  accountsOf,
  alertsOf,
  notificationsOf,
  pollTimesOf,
} from '../support/api-answers.ts';
import { eventually } from '../support/eventually.ts';
import { startMailSink } from '../support/mail-sink.ts';
import { otpSecret, withBed } from '../support/run-daemon.ts';
import { accepted, type SinkAnswer } from '../support/slack-sink.ts';
import { politeSmtp, smtpReply, startScriptedSmtp } from '../support/smtp-receiver.ts';

const many = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: `account-${index}`,
    authSecret: `${otpSecret}-${index}`,
    sms: '1000',
  }));

const mailTo = (port: number) => ({
  type: 'email',
  smtpUrl: `smtp://127.0.0.1:${port}`,
  from: 'Lowwater <lowwater@example.com>',
  to: ['finance@example.com'],
});

describe.concurrent('receivers that are slow', () => {
  it('a webhook that hangs changes no poll’s time and delays no other channel', () =>
    withBed({ config: { rules: [{ id: 'sms-low', type: 'below', threshold: 200 }] } }, async (bed) => {
      bed.slack.behave(() => 'hang');
      const daemon = await bed.start();
      await eventually('a poll', async () => (await accountOf(daemon)).polledAt);
      bed.provider.control.setBalance('otp', 'sms', '100');
      await eventually('the delivery hangs', () => bed.slack.posts.length > 0);
      const hangsSince = Date.now();
      // The stored ones: a look from outside may miss one on a busy machine.
      const times = await eventually('six polls', async () => {
        const all = await pollTimesOf(daemon, 'otp');
        const since = all.filter((at) => at > hangsSince);
        return since.length < 6 ? null : since;
      });
      // Held up by the webhook two would be its deadline apart, ten seconds.
      for (const [index, at] of times.slice(1).entries()) expect(at - (times[index] ?? 0)).toBeLessThan(9000);
      await eventually('the mail is there', () => bed.mail.count() === 1);
      expect(bed.slack.posts).toHaveLength(1);
      await daemon.kill();
    }));

  it('a hundred alerts reach one that takes a message a second whole: grouped, and no sooner than it asks', () =>
    withBed({ scenario: { accounts: many(100) } }, async (bed) => {
      const ids = many(100).map(({ id }) => id);
      bed.configure({
        channels: { hook: { type: 'webhook', url: `${bed.slack.origin}/hook` } },
        routes: [{ channels: ['hook'], groupWait: '0s' }],
      });
      let takenAt = Number.NEGATIVE_INFINITY;
      const early: number[] = [];
      let notBefore = 0;
      bed.slack.behave(({ at }) => {
        // A hair of grace: what the daemon waits is measured from when it saw the answer, by another clock.
        if (at < notBefore - 20) early.push(notBefore - at);
        if (at - takenAt < 1000) {
          notBefore = at + 1000;
          return { status: 429, headers: { 'retry-after': '1' } };
        }
        takenAt = at;
        return accepted;
      });
      const daemon = await bed.start();
      await eventually('good readings', async () =>
        (await accountsOf(daemon)).every(({ outcome }) => outcome === 'ok'),
      );
      for (const [index, id] of ids.entries()) {
        bed.provider.control.setBalance(id, 'sms', '100');
        if (index % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const notified = () =>
        new Set(
          bed.slack.accepted().flatMap(({ body }) => {
            const { data } = JSON.parse(body) as { data: { alerts: { account: string }[] } };
            return data.alerts.map(({ account }) => account);
          }),
        );
      // A body names as many alerts as fit into it, and counts the others.
      const counted = () =>
        bed.slack
          .accepted()
          .reduce(
            (sum, { body }) => sum + (JSON.parse(body) as { data: { truncated: number } }).data.truncated,
            0,
          );
      await eventually('all are reported or counted', () => notified().size + counted() === 100);
      expect(early).toEqual([]);
      expect(bed.slack.posts.length).toBeLessThan(20);
      await daemon.stop();
    }));
});

/** What becomes of the first message at each receiver of the table: its state and attempts after a moment. */
describe('receivers that refuse, hang and cut', () => {
  const slackRows: readonly (readonly [string, SinkAnswer, string])[] = [
    ['slack-404', { status: 404, body: 'no_service' }, 'dead'],
    ['slack-403', { status: 403, body: 'invalid_token' }, 'dead'],
    ['slack-410', { status: 410, body: 'channel_is_archived' }, 'dead'],
    ['slack-302', { status: 302, headers: { location: 'http://127.0.0.1:9/' } }, 'dead'],
    ['slack-400', { status: 400, body: 'invalid_blocks' }, 'dead'],
    ['slack-500', { status: 500, body: 'oops' }, 'pending'],
    ['slack-429', { status: 429, headers: { 'retry-after': '3600' } }, 'pending'],
    ['slack-reset', 'reset', 'pending'],
    ['slack-cut', 'reset-after-status', 'pending'],
    ['slack-hang', 'hang', 'pending'],
  ];

  it('each ends as its answer says; the dead are reported on the others, and none delays another', () =>
    withBed({}, async (bed) => {
      const smtp = {
        'mail-451': await startMailSink({
          onMailFrom: (_from, _session, done) => done(smtpReply(451, 'greylisted')),
        }),
        'mail-421': await startMailSink({
          onMailFrom: (_from, _session, done) => done(smtpReply(421, 'busy')),
        }),
        'mail-550': await startMailSink({
          onRcptTo: (_to, _session, done) => done(smtpReply(550, 'nobody here')),
        }),
        'mail-552': await startMailSink({
          onData: (stream, _session, done) =>
            stream.resume().on('end', () => done(smtpReply(552, 'too big'))),
        }),
        'mail-cut': await startScriptedSmtp(politeSmtp({ MESSAGE: 'DROP' })),
        'mail-silent': await startScriptedSmtp(() => null),
      };
      const expected: Readonly<Record<string, string>> = {
        ...Object.fromEntries(slackRows.map(([name, , state]) => [name, state])),
        'mail-451': 'pending',
        'mail-421': 'pending',
        'mail-550': 'dead',
        'mail-552': 'dead',
        'mail-cut': 'pending',
        'mail-silent': 'pending',
        'mail-refused': 'pending',
        good: 'delivered',
      };
      bed.slack.behave(({ path }) => slackRows.find(([name]) => path.endsWith(name))?.[1] ?? accepted);
      bed.configure({
        channels: {
          ...Object.fromEntries(
            slackRows.map(([name]) => [
              name,
              { type: 'slack', webhookUrl: `${bed.slack.origin}/services/${name}` },
            ]),
          ),
          ...Object.fromEntries(Object.entries(smtp).map(([name, { port }]) => [name, mailTo(port)])),
          'mail-refused': mailTo(9),
          good: { type: 'slack', webhookUrl: bed.slack.url },
        },
        routes: [
          { match: { rule: 'sms-low' }, channels: Object.keys(expected), groupWait: '0s' },
          { channels: ['good'] },
        ],
      });
      try {
        const daemon = await bed.start();
        bed.provider.control.setBalance('otp', 'sms', '100');
        // It hears of other things too, and on a busy machine perhaps sooner.
        await eventually('the good one has it', () =>
          bed.slack.posts.some(
            ({ path, text }) => path === new URL(bed.slack.url).pathname && text.includes('100.00 CNY'),
          ),
        );
        const first = (messages: readonly ApiNotification[]) =>
          Object.fromEntries(
            messages
              .filter(({ alerts }) => alerts.some(({ rule }) => rule === 'sms-low'))
              .map((one) => [one.channel, one]),
          );
        const states = async () => first(await notificationsOf(daemon));
        await eventually('each has ended its first attempt', async () => {
          const now = await states();
          return Object.entries(expected).every(([name, state]) => {
            const hangs = name === 'slack-hang' || name === 'mail-silent';
            return (
              now[name]?.state === state && (state !== 'pending' || hangs || now[name]?.lastError !== null)
            );
          });
        }).catch(async () =>
          expect(await states()).toMatchObject(
            Object.fromEntries(Object.entries(expected).map(([name, state]) => [name, { state }])),
          ),
        );
        await eventually('the good one hears of every dead one', async () => {
          const failed = (await alertsOf(daemon)).filter(({ type }) => type === 'channel-failed');
          return failed.length === Object.values(expected).filter((state) => state === 'dead').length;
        });
        // On a busy machine it may also be told that another is dead before it is dead itself.
        const posts = (name: string) =>
          bed.slack.posts.filter(({ path, text }) => path.endsWith(name) && text.includes('100.00 CNY'))
            .length;
        const ended = await states();
        // One is enough, but where a busy machine gave an answer up before it was read.
        for (const name of ['slack-404', 'slack-403', 'slack-410', 'slack-302', 'slack-429'])
          expect(posts(name), name).toBeLessThanOrEqual(ended[name]?.attempts ?? 0);
        // With its layout and as plain text: tried again later, its line counts the alerts of dead channels instead.
        const layouts = bed.slack.posts
          .filter(({ path }) => path.endsWith('slack-400'))
          .map(({ body }) => /"(?:blocks|attachments)":/.test(body));
        expect(new Set(layouts)).toEqual(new Set([true, false]));
        const errors = JSON.stringify(await notificationsOf(daemon));
        expect(errors).not.toContain('/services/');
        await daemon.kill();
      } finally {
        await Promise.all(Object.values(smtp).map((server) => server.close()));
      }
    }));
});
