import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createChannel } from '../../../src/channels/registry.ts';
import type { Message } from '../../../src/domain/message.ts';
import { loadLanguage } from '../../../src/languages/load-language.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { json, sendThrough } from '../../support/channel-bed.ts';
import { freePort } from '../../support/free-port.ts';
import { type ReceivedPost, startHttpReceiver } from '../../support/http-receiver.ts';
import {
  buildItem,
  buildMessage,
  buildTestMessage,
  everyMessage,
  messageNow,
} from '../../support/messages.ts';
import { channelOf, textsAround } from '../../support/settings.ts';

interface Alert {
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
  readonly startsAt: string;
  readonly endsAt: string;
}

/** As Alertmanager 0.25 checks an alert (`types.Alert.Validate`): a name, labels of letters, no end before the start. */
function alertmanager(response: ServerResponse, { path, body }: ReceivedPost): void {
  const alerts: Alert[] = path === '/api/v2/alerts' ? JSON.parse(body) : [];
  const isGood = ({ labels, annotations, startsAt, endsAt }: Alert) =>
    Object.keys({ ...labels, ...annotations }).every((name) => /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name)) &&
    Object.values({ ...labels, ...annotations }).every((value) => typeof value === 'string') &&
    (labels.alertname ?? '') !== '' &&
    Date.parse(endsAt) >= Date.parse(startsAt);
  if (alerts.length > 0 && alerts.every(isGood)) response.writeHead(200).end();
  else json(response, { code: 602, message: 'invalid label set' }, 400);
}

async function post(message: Message, keys: object = {}) {
  const { delivery, posts } = await sendThrough({
    config: (origin) => ({ type: 'alertmanager', urls: [origin], ...keys }),
    answer: alertmanager,
    message,
  });
  return { delivery, posts, alerts: posts.flatMap(({ body }) => JSON.parse(body) as Alert[]) };
}

const quarter = 15 * 60_000;

describe('Alertmanager', () => {
  it('gets a test in the words of the channel’s language', async () => {
    await loadLanguage('zh-CN');
    const { alerts } = await post(buildTestMessage({ language: 'zh-CN' }));
    expect(alerts).toMatchObject([
      { annotations: { summary: expect.stringMatching(/^【测试】lowwater 可以/) } },
    ]);
  });

  it('gets what fires with its labels, and an end that lies a quarter of an hour ahead', async () => {
    const labels = { team: 'identity', 'cost-center': '7', '1st': 'x', empty: '' };
    const { delivery, alerts } = await post(buildMessage([buildItem({ incident: { labels } })]), {
      labels: { source: 'lowwater' },
    });
    expect(delivery.kind).toBe('delivered');
    expect(alerts).toMatchObject([
      {
        labels: {
          alertname: 'LowwaterBelow',
          account: 'otp',
          rule: 'sms-low',
          balance: 'sms',
          severity: 'critical',
          team: 'identity',
          cost_center: '7',
          _1st: 'x',
          source: 'lowwater',
        },
        endsAt: new Date(messageNow + quarter).toISOString(),
      },
    ]);
    expect(alerts[0]?.labels).not.toHaveProperty('empty');
  });

  it('gets of labels that are one there the one that is written so, and none of those that are not', async () => {
    const labels = { a_b: 'own', 'a-b': 'other', 'c-d': 'x', 'c.d': 'y' };
    const { alerts } = await post(buildMessage([buildItem({ incident: { labels } })]));
    expect(alerts[0]?.labels).toMatchObject({ a_b: 'own' });
    expect(alerts[0]?.labels).not.toHaveProperty('c_d');
  });

  it('tells two accounts, and a test, apart whatever labels the channel adds', async () => {
    const labels = { account: 'production', rule: 'x', alertname: 'balance' };
    const { alerts } = await post(buildMessage(), { labels });
    expect(alerts[0]?.labels).toMatchObject({ account: 'otp', rule: 'sms-low', alertname: 'LowwaterBelow' });
    const test = await post(buildTestMessage(), { labels });
    expect(test.alerts[0]?.labels).toMatchObject({ account: 'production', alertname: 'LowwaterTest' });
  });

  it('gets the end of what is over, at the instant of the end', async () => {
    const over = buildItem({ kinds: ['resolved'], resolvedAt: messageNow - 1000 });
    const { alerts } = await post(buildMessage([over]));
    expect(alerts.map(({ endsAt }) => Date.parse(endsAt))).toEqual([messageNow - 1000]);
  });

  it('takes what fired by a clock that was set back since, and its end at once', async () => {
    const ahead = { firedAt: messageNow + 4 * quarter, incident: { rises: 1 } };
    const fires = await post(buildMessage([buildItem(ahead)]));
    expect(fires.delivery.kind).toBe('delivered');
    const resolvedAt = ahead.firedAt;
    const over = await post(buildMessage([buildItem({ ...ahead, kinds: ['resolved'], resolvedAt })]));
    expect(new Set(over.alerts.map(({ endsAt }) => Date.parse(endsAt)))).toEqual(new Set([messageNow]));
  });

  it('gets the end of an incident with the beginning of the next one of the alert, at another severity too', async () => {
    const over = { resolvedAt: messageNow - 30_000, kinds: ['firing', 'resolved'] } as const;
    for (const severity of ['warning', 'critical'] as const) {
      const again = buildItem({ severity, firedAt: messageNow - 10_000 });
      const { alerts } = await post(buildMessage([again, buildItem(over)]));
      const ends = Object.fromEntries(
        alerts.map(({ labels, endsAt }) => [labels.severity, Date.parse(endsAt)]),
      );
      expect(ends).toEqual({ critical: messageNow - 30_000, [severity]: messageNow + quarter });
    }
  });

  it('ends the alert of the severity before when an incident got worse', async () => {
    const worse = buildItem({
      kinds: ['worse'],
      severity: 'critical',
      incident: { rises: 1, worstSeverity: 'critical' },
    });
    const { alerts } = await post(buildMessage([worse]));
    const firing = alerts.filter(({ endsAt }) => Date.parse(endsAt) > messageNow);
    expect(firing.map(({ labels }) => labels.severity)).toEqual(['critical']);
    expect(alerts.map(({ labels }) => labels.severity).sort()).toEqual(['critical', 'info', 'warning']);
  });

  it('keeps an acknowledged alert and names who took it, and nobody once it got worse', async () => {
    const acknowledgement = {
      at: messageNow,
      by: 'kim',
      comment: '',
      rises: 0,
      severity: 'critical',
    } as const;
    const taken = await post(buildMessage([buildItem({ incident: { acknowledgement } })]));
    expect(taken.alerts[0]?.annotations.acknowledged_by).toBe('kim');
    const worse = await post(buildMessage([buildItem({ incident: { acknowledgement, rises: 1 } })]));
    expect(worse.alerts[0]?.annotations.acknowledged_by).toBeUndefined();
  });

  it.each(['report', 'test'] as const)('wakes nobody for a %s', async (kind) => {
    const message = Object.values(everyMessage()).find((each) => each.kind === kind);
    const { delivery, alerts } = await post(message ?? buildMessage());
    expect(delivery.kind).toBe('delivered');
    for (const { endsAt } of alerts) expect(Date.parse(endsAt)).toBeLessThanOrEqual(message?.at ?? 0);
  });

  it.each(Object.entries(everyMessage()))('takes a message about %s', async (_, message) => {
    expect((await post(message)).delivery.kind).toBe('delivered');
  });

  it('counts a message as delivered that one of two took, and says what the other answered', async () => {
    const [good, bad] = await Promise.all([
      startHttpReceiver(alertmanager),
      startHttpReceiver((response) => json(response, {}, 503)),
    ]);
    const urls = [bad, good].map(({ port }) => `http://127.0.0.1:${port}`);
    const settings = channelOf('ops', { type: 'alertmanager', urls });
    const channel = createChannel(settings, { clock: systemClock, texts: textsAround(settings) });
    const { signal } = new AbortController();
    expect(await channel.send(buildMessage(), signal)).toEqual({
      kind: 'delivered',
      said: 'Alertmanager answered 200; 1 of 2: Alertmanager answered 503 {}',
    });
    await good.close();
    expect((await channel.send(buildMessage(), signal)).kind).toBe('retry');
    await Promise.all([channel.close(), bad.close()]);
  });

  it('gets each end again with every message for a quarter of an hour, be it empty, also where a member of a cluster missed it', async () => {
    let isUp = false;
    const [good, late] = await Promise.all([
      startHttpReceiver(alertmanager),
      startHttpReceiver((response, post) => (isUp ? alertmanager(response, post) : json(response, {}, 503))),
    ]);
    const urls = [late, good].map(({ port }) => `http://127.0.0.1:${port}`);
    const settings = channelOf('ops', { type: 'alertmanager', urls });
    let aheadMs = 0;
    const clock = { ...systemClock, now: () => Date.now() + aheadMs };
    const channel = createChannel(settings, { clock, texts: textsAround(settings) });
    const { signal } = new AbortController();
    const over = Date.now() - 1000;
    const ended = buildItem({ kinds: ['resolved'], resolvedAt: over });
    await channel.send(buildMessage([ended], { at: clock.now() }), signal);
    isUp = true;
    const receivers = [good, late];
    for (const afterMs of [60_000, quarter - 30_000, quarter + 30_000, quarter + 90_000]) {
      const before = receivers.map(({ received }) => received.length);
      aheadMs = afterMs;
      await channel.send(buildMessage([]), signal);
      const again = receivers.map(({ received }, place) => received.slice(before[place]));
      const ends = again.map((posts) => posts.flatMap(({ body }) => JSON.parse(body) as Alert[]));
      const end = { endsAt: new Date(over).toISOString() };
      // The first message behind the quarter of an hour finds out that it is over.
      if (afterMs <= quarter + 30_000) expect(ends).toMatchObject([[end], [end]]);
      else expect(ends).toEqual([[], []]);
    }
    await Promise.all([channel.close(), good.close(), late.close()]);
  });

  it('gets the end of an earlier severity at one instant in every message', async () => {
    const rose = messageNow - 30_000;
    const incident = { rises: 1, worstSeverity: 'critical', escalationSince: rose } as const;
    const message = buildMessage([buildItem({ kinds: ['worse'], severity: 'critical', incident })]);
    for (const at of [messageNow, messageNow + 60_000]) {
      const { alerts } = await post({ ...message, at });
      const ends = alerts.filter(({ labels }) => labels.severity !== 'critical');
      expect(ends.map(({ endsAt }) => Date.parse(endsAt))).toEqual([rose, rose]);
    }
  });

  it('gets an end only behind the round before it, which a slow member has not answered yet', async () => {
    const waiting: (() => void)[] = [];
    const slow = await startHttpReceiver((response, post) => {
      if (post.path === '/api/v2/alerts') waiting.push(() => alertmanager(response, post));
      else response.end();
    });
    const settings = channelOf('ops', { type: 'alertmanager', urls: [`http://127.0.0.1:${slow.port}`] });
    const channel = createChannel(settings, { clock: systemClock, texts: textsAround(settings) });
    const { signal } = new AbortController();
    const over = Date.now() - 1000;
    const round = channel.send(buildMessage(), signal);
    const end = channel.send(buildMessage([buildItem({ kinds: ['resolved'], resolvedAt: over })]), signal);
    await vi.waitUntil(() => waiting.length > 0);
    // A round of its own is answered behind an end that did not wait.
    for (let trip = 0; trip < 3; trip += 1) await fetch(slow.url);
    expect(waiting).toHaveLength(1);
    waiting.shift()?.();
    expect((await round).kind).toBe('delivered');
    await vi.waitUntil(() => waiting.length > 0);
    waiting.shift()?.();
    expect((await end).kind).toBe('delivered');
    await Promise.all([channel.close(), slow.close()]);
  });

  it('is asked with the credentials given, and refused for good where they are wrong', async () => {
    const { delivery, posts } = await sendThrough({
      config: (origin) => ({
        type: 'alertmanager',
        urls: [origin],
        basic: { user: 'ops', password: 'secret-word' },
      }),
      answer: (response) => json(response, {}, 401),
    });
    expect(posts[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from('ops:secret-word').toString('base64')}`,
    );
    expect(delivery).toMatchObject({
      kind: 'dead',
      reason: expect.stringContaining('check "basic" or "bearer"'),
    });
  });
});

const program = '/usr/bin/prometheus-alertmanager';
if (!existsSync(program) && process.env.LOWWATER_REQUIRE_ALERTMANAGER !== undefined)
  throw new Error('prometheus-alertmanager is not installed');

describe.skipIf(!existsSync(program))('the real Alertmanager', () => {
  it.each([
    ['', 0],
    [' where its clock is behind', 3_000],
  ])('shows what fires, and no longer what is over%s', async (_, aheadMs) => {
    const folder = mkdtempSync(join(tmpdir(), 'lowwater-alertmanager-'));
    const port = await freePort();
    writeFileSync(join(folder, 'config.yml'), 'route: { receiver: nobody }\nreceivers: [{ name: nobody }]\n');
    const child = spawn(program, [
      `--config.file=${join(folder, 'config.yml')}`,
      `--storage.path=${folder}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--cluster.listen-address=',
    ]);
    const url = `http://127.0.0.1:${port}`;
    const settings = channelOf('ops', { type: 'alertmanager', urls: [url] });
    const wallNow = () => Date.now() + aheadMs;
    const clock = { ...systemClock, now: wallNow };
    const channel = createChannel(settings, { clock, texts: textsAround(settings) });
    onTestFinished(async () => {
      await channel.close();
      child.kill();
      await new Promise((resolve) => child.once('exit', resolve));
      rmSync(folder, { recursive: true, force: true });
    });
    await expect
      .poll(() =>
        fetch(`${url}/-/ready`).then(
          ({ ok }) => ok,
          () => false,
        ),
      )
      .toBe(true);
    const now = wallNow();
    const { signal } = new AbortController();
    const message = (item: Parameters<typeof buildItem>[0]): Message => ({
      ...buildMessage([buildItem(item)]),
      at: wallNow(),
    });
    const shown = async () =>
      ((await (await fetch(`${url}/api/v2/alerts`)).json()) as Alert[]).map(({ labels }) => labels.severity);
    expect(await channel.send(message({ firedAt: now - 1000, severity: 'warning' }), signal)).toEqual({
      kind: 'delivered',
      said: 'Alertmanager answered 200',
    });
    expect(await shown()).toEqual(['warning']);
    const worst = { rises: 1, worstSeverity: 'critical', escalationSince: wallNow() } as const;
    const incident = { firedAt: now - 1000, incident: worst };
    await channel.send(message({ ...incident, kinds: ['worse'] }), signal);
    await vi.waitUntil(() => Date.now() > worst.escalationSince, { timeout: 10_000 });
    await channel.send(message({ ...incident, kinds: ['reminder'] }), signal);
    await expect.poll(shown).toEqual(['critical']);
    const resolvedAt = wallNow();
    await channel.send(message({ ...incident, kinds: ['resolved'], resolvedAt }), signal);
    await vi.waitUntil(() => Date.now() > resolvedAt, { timeout: 10_000 });
    await channel.send(buildMessage([]), signal);
    await expect.poll(shown).toEqual([]);
  });
});
