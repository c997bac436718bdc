import { describe, expect, test } from 'vitest';
import { createChatAnswers } from '../../../src/channels/chats/answer-chat.ts';
import { writePressed } from '../../../src/channels/chats/buttons.ts';
import { loadLanguage } from '../../../src/languages/load-language.ts';
import type { ChatEvent } from '../../../src/ports/channel.ts';
import { hourMs, minuteMs, smsLow, units } from '../../support/account-facts.ts';
import { giveAtOnce } from '../../support/orders.ts';
import { makeAccount } from '../../support/settings.ts';
import { read, startWorld, type World } from '../../support/world.ts';

let events = 0;

function answer({ daemon, views }: World, said: ChatEvent['said']): Promise<string> {
  const answers = createChatAnswers(daemon.state, views, () => daemon.now());
  const person = { id: 'U1', name: 'Ada' };
  const event = { channel: 'ops', id: `${++events}`, chat: 'C1', standing: 'may act', person, said } as const;
  return answers(event).then(({ text }) => text);
}

const write = (world: World, text: string) => answer(world, { kind: 'text', text });

/** Its only account lasts less than a day, and no rule has a word about it. */
async function endingSoon(): Promise<World> {
  const world = await startWorld({ rules: [smsLow({ critical: units(1) })] });
  for (let sms = 300; sms > 20; sms -= 10) await read(world, sms);
  return world;
}

describe('a chat that is asked what fires or what to pay', () => {
  test.each(['status', 'pay'])(
    'says to %s how many may be empty within a day without an alert',
    async (text) => {
      const world = await endingSoon();
      expect(await write(world, text)).toMatch(/\n1 account without an alert may be empty within a day\.$/);
    },
  );

  test.each(['status', 'pay'])('says to %s how many could not be read', async (text) => {
    const world = await startWorld();
    await read(world, 500);
    expect(await write(world, text)).not.toContain('could not be read');
    world.provider.fail('otp', 'timeout');
    await world.pass(6 * minuteMs);
    expect(await write(world, text)).toMatch(/\n1 account could not be read\.$/);
  });

  test('says what is most urgent first, where more fires than it has lines for', async () => {
    const accounts = Array.from({ length: 12 }, (_, index) => `account-${index}`);
    const world = await startWorld({ accounts, rules: [smsLow({ warning: units(100) })] });
    for (const id of accounts) world.provider.set(id, id === 'account-11' ? -1 : 90);
    await world.pass(6 * minuteMs);
    const lines = (await write(world, 'status')).split('\n');
    expect(lines[0]).toContain('account-11');
    expect(lines.at(-1)).toBe('and 2 more');
  });

  test('says with status what is wrong with lowwater itself', async () => {
    const world = await startWorld();
    await read(world, 500);
    const problems = ['The database cannot be written.'];
    const views = { ...world.views, status: () => ({ ...world.views.status(), problems }) };
    const { daemon } = world;
    const answers = createChatAnswers(daemon.state, views, () => daemon.now());
    const { text } = await answers({
      ...{ channel: 'ops', id: 'status', chat: 'C1', standing: 'may act' },
      ...{ person: { id: 'U1', name: 'Ada' }, said: { kind: 'text', text: 'status' } },
    });
    expect(text).toBe(`Nothing fires. 1 account watched.\n${problems[0]}`);
  });
});

test.each(['why otp', 'take otp'])(
  '%s, where nothing fires but it cannot be read, says since when, above what was read last',
  async (text) => {
    const world = await startWorld();
    await read(world, 500);
    world.provider.fail('otp', 'timeout');
    await world.pass(6 * minuteMs);
    expect((await write(world, text)).split('\n')).toEqual([
      'Nothing fires for otp.',
      expect.stringMatching(/^It could not be read since Fri 20 Nov .*: this is what it was then\.$/),
      expect.stringContaining('500.00 CNY'),
      expect.any(String),
    ]);
  },
);

describe('an alert that is silenced', () => {
  const rules = [smsLow({ warning: units(200), critical: units(50) })];
  const silence = (world: World, startsAt: number, endsAt: number) => {
    const order = { kind: 'silence', match: { account: ['otp'] }, everything: false, comment: '' } as const;
    giveAtOnce(world, { ...order, startsAt, endsAt }, 'Ben');
  };

  test.each([
    ['en', 'silenced until Fri 15:00', 'Silenced until Fri 20 Nov 15:00 UTC.'],
    ['zh-CN', '静默至周五 15:00', '静默至 11月20日 周五 15:00 UTC。'],
    ['es', 'en silencio hasta el vie 15:00', 'En silencio hasta el vie 20 nov 15:00 UTC.'],
  ])(
    'says so to whoever asks, in %s, and until when the last of its silences ends',
    async (id, clause, sentence) => {
      await loadLanguage(id);
      const world = await startWorld({ rules, language: id });
      await read(world, 100);
      expect(await write(world, 'status')).not.toContain(clause);
      const { now } = world;
      silence(world, now, now + 30 * minuteMs);
      silence(world, now + 20 * minuteMs, Date.UTC(2026, 10, 20, 15));
      expect(await write(world, 'status')).toContain(clause);
      expect((await write(world, 'why otp')).split('\n')).toContain(sentence);
      await write(world, 'take otp');
      const taken = await write(world, 'take otp');
      expect(taken).toContain('Ada');
      expect(taken).toContain(clause);
      await world.pass(4 * hourMs);
      expect(await write(world, 'status')).not.toContain(clause);
    },
  );

  test('is no longer to be looked up in its newest message, which does not say what is so', async () => {
    const world = await startWorld({ rules });
    await read(world, 100);
    const incident = world.daemon.state.alerts.get('otp', 'sms-low')?.incident ?? '';
    silence(world, world.now, Date.UTC(2026, 10, 20, 15));
    await read(world, 20);
    const data = writePressed({ verb: 'acknowledge', incident, severity: 'warning' });
    expect(await answer(world, { kind: 'button', data })).toBe(
      'This alert is critical by now: nothing was done. Look at its newest message. Silenced until Fri 20 Nov 15:00 UTC.',
    );
  });
});

test('an account whose name has a wide space is found by it', async () => {
  const accounts = [makeAccount('otp', { name: '短信　生产' })];
  const world = await startWorld({ accounts, rules: [smsLow({ critical: units(1) })] });
  await read(world, 500);
  for (const text of ['why 短信　生产', 'why 短信 生产'])
    expect(await write(world, text)).toMatch(/^Nothing fires for 短信　生产\.\n/);
});

test('an account is found by a name that a keyboard for Chinese writes wider, or that is so wide itself', async () => {
  const accounts = [
    makeAccount('otp', { name: 'OTP 生产' }),
    makeAccount('eu', { name: '短信（ＥＵ）' }),
    makeAccount('us', { name: '㎏ Ｕ' }),
  ];
  const world = await startWorld({ accounts, rules: [smsLow({ critical: units(1) })] });
  for (const text of [
    'ｗｈｙ ＯＴＰ',
    'why 短信（ＥＵ）',
    'why 短信(eu)',
    'ｗｈｙ　ｏｔｐ　生产',
    'why kg u sms-low',
  ])
    expect(await write(world, text)).not.toContain('There is no account');
});

test('an edited message does nothing again, and says so', async () => {
  const world = await startWorld();
  await read(world, 500);
  for (const text of ['quiet otp 2h load test', 'ordered otp 1400 by friday', 'status'])
    expect(await answer(world, { kind: 'text', text, isEdited: true })).toBe(
      'An edited message is no new command: nothing was done. Write it again.',
    );
  expect([world.views.silences(), world.views.expected()]).toEqual([[], []]);
});

test.each(['acknowledge', 'quiet2h', 'ordered', 'why'] as const)(
  'a button (%s) of an incident that is over says so where the alert fires again, and does nothing',
  async (verb) => {
    const world = await startWorld({ rules: [smsLow({ warning: units(200), critical: units(50) })] });
    await read(world, 100);
    const incident = world.daemon.state.alerts.get('otp', 'sms-low')?.incident ?? '';
    const data = writePressed({ verb, incident, severity: 'warning' });
    await read(world, 500);
    expect(await answer(world, { kind: 'button', data })).toBe('This alert is over: nothing was done.');
    await read(world, 30);
    const said = [{ kind: 'button', data } as const, { kind: 'form', data, amount: '5', by: '' } as const];
    for (const each of said)
      expect(await answer(world, each)).toBe(
        'This incident is over, but the alert fires again (critical): nothing was done. Look at its newest message.',
      );
    expect((await world.views.alert('otp', 'sms-low'))?.acknowledged).toBeNull();
    expect([world.views.silences(), world.views.expected()]).toEqual([[], []]);
  },
);

test('a button of an incident of which nothing is known, as another lowwater has the same bot, says so and not that it is over', async () => {
  const world = await startWorld();
  await read(world, 500);
  for (const verb of ['acknowledge', 'quiet2h', 'ordered', 'why'] as const) {
    const data = writePressed({ verb, incident: 'incident-of-another', severity: 'critical' });
    expect(await answer(world, { kind: 'button', data })).toBe(
      'This alert is not known here (it may be of another lowwater): nothing was done.',
    );
  }
});
