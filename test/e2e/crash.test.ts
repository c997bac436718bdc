import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openReader } from '../../src/store/store.ts';
import { accountOf, alertsOf, incidentsOf, notificationsOf } from '../support/api-answers.ts';
import { eventually } from '../support/eventually.ts';
import { type Bed, type RunningDaemon, withBed } from '../support/run-daemon.ts';
import { accepted } from '../support/slack-sink.ts';

const hookOnly = (origin: string) => ({ channels: { hook: { type: 'webhook', url: `${origin}/hook` } } });

const shiftedClock = {
  NODE_OPTIONS: `--import=${join(import.meta.dirname, '../support/cluster/shift-clock.ts')}`,
};

async function readStored(bed: Bed) {
  const reader = openReader({ path: join(bed.folder, 'lowwater.db'), now: Date.now });
  try {
    return await reader.load();
  } finally {
    await reader.close();
  }
}

describe.concurrent('a daemon killed with SIGKILL', () => {
  // The waits here are long compared with what a busy machine takes to start a daemon.
  it('between the change of an alert and its delivery: the next one delivers it, as the same incident', () =>
    withBed({}, async (bed) => {
      bed.configure({ ...hookOnly(bed.slack.origin), routes: [{ channels: ['hook'], groupWait: '8s' }] });
      const first = await bed.start();
      bed.provider.control.setBalance('otp', 'sms', '100');
      const [alert] = await eventually('it fires', async () => {
        const alerts = await alertsOf(first);
        return alerts[0]?.state === 'firing' ? alerts : null;
      });
      const [waiting] = await notificationsOf(first);
      await first.kill();
      expect(bed.slack.posts).toEqual([]);

      const second = await bed.start();
      const post = await eventually('the message', () => bed.slack.posts[0] ?? null);
      expect(post.headers['webhook-id']).toBe(waiting?.id);
      await eventually('it is marked', async () => (await notificationsOf(second))[0]?.state === 'delivered');
      expect(await incidentsOf(second)).toMatchObject([{ id: alert?.incident, resolvedAt: null }]);
      expect(bed.slack.posts).toHaveLength(1);
    }));

  it('between acceptance and the mark: the message comes again with the same id, once for the one crash', () =>
    withBed({}, async (bed) => {
      bed.configure({ ...hookOnly(bed.slack.origin), routes: [{ channels: ['hook'], groupWait: '0s' }] });
      const first = await bed.start();
      // The receiver has taken the message, and the daemon dies before it can read that.
      bed.slack.behave(() => {
        first.child.kill('SIGKILL');
        return { ...accepted, delayMs: 50 };
      });
      bed.provider.control.setBalance('otp', 'sms', '100');
      expect((await first.ended).signal).toBe('SIGKILL');
      bed.slack.behave(() => accepted);
      const second = await bed.start();
      const [taken, again] = await eventually('it comes again', () =>
        bed.slack.posts.length >= 2 ? bed.slack.posts : null,
      );
      expect(again?.headers['webhook-id']).toBe(taken?.headers['webhook-id']);
      await eventually('it is marked', async () => (await notificationsOf(second))[0]?.state === 'delivered');
      expect(await incidentsOf(second)).toHaveLength(1);
      expect(bed.slack.posts).toHaveLength(2);
    }));

  it('while the provider wants it to wait: the next one goes on waiting, and one that starts later polls', () =>
    withBed({}, async (bed) => {
      bed.configure({
        provider: {
          baseUrl: bed.provider.url,
          maxRequestsPerSecond: 20,
          backoff: { initial: '1h', max: '2h' },
        },
      });
      bed.provider.control.fail({
        kind: 'body',
        status: 200,
        body: '{"msg":"Too Many Requests","code":-32}',
      });
      const first = await bed.start();
      const until = await eventually('it backs off', async () => (await accountOf(first)).backoffUntil);
      // It is shown from memory, and stored as soon as the disk lets it.
      await eventually('that is stored', async () =>
        (await readStored(bed)).backoffs.some((each) => each.until > 0),
      );
      await first.kill();
      bed.provider.control.recover();
      const before = bed.provider.control.requests();
      const second = await bed.start();
      expect((await accountOf(second)).backoffUntil).toBe(until);
      expect(await second.post('/api/v1/accounts/otp/poll')).toMatchObject({ error: {} });
      await second.kill();
      expect(bed.provider.control.requests()).toBe(before);
      // Nobody waits for the hour: the clock of the next one is ahead by it.
      const ahead = join(bed.folder, 'ahead');
      writeFileSync(ahead, String(Date.parse(until) - Date.now()));
      const third = await bed.start({ ...shiftedClock, SHIFT_CLOCK_FILE: ahead });
      await eventually('it reads', async () => (await accountOf(third)).outcome === 'ok');
    }));

  it('in a period with a budget, and below where a top-up is due: the next one counts on from what was spent', () =>
    withBed({}, async (bed) => {
      bed.configure({
        rules: [
          { id: 'budget', type: 'budget', per: 'month', amount: 110 },
          { id: 'recharge', type: 'missed-top-up', at: 960, within: '4s' },
        ],
      });
      const states = async (daemon: RunningDaemon) =>
        Object.fromEntries((await alertsOf(daemon)).map(({ rule, state }) => [rule, state]));
      const read = (daemon: RunningDaemon, sms: string) => {
        bed.provider.control.setBalance('otp', 'sms', sms);
        return eventually(
          `it reads ${sms}`,
          async () => (await accountOf(daemon)).balances.sms === sms || null,
        );
      };
      const first = await bed.start();
      await read(first, '1000');
      await read(first, '950');
      await eventually(
        'it is stored',
        async () => (await readStored(bed)).accounts[0]?.reading?.balances.sms === 950_000_000 || null,
      );
      await first.kill();
      // What is spent while nobody watches counts too.
      bed.provider.control.setBalance('otp', 'sms', '920');
      const second = await bed.start();
      await read(second, '900');
      expect(await states(second)).not.toHaveProperty('budget');
      await eventually(
        'the recharge is missed',
        async () => (await states(second)).recharge === 'firing' || null,
      );
      await second.kill();
      const third = await bed.start();
      await read(third, '880');
      await eventually('the budget is spent', async () => (await states(third)).budget === 'firing' || null);
      const [spent] = (await alertsOf(third)).filter(({ rule }) => rule === 'budget');
      expect(spent?.value).toBe('120');
      expect(await states(third)).toMatchObject({ recharge: 'firing' });
    }));
});
