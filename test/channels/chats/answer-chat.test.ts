import { describe, expect, test } from 'vitest';
import { createChatAnswers } from '../../../src/channels/chats/answer-chat.ts';
import { buttonsOf, readPressed, type Verb, writePressed } from '../../../src/channels/chats/buttons.ts';
import type { Rule } from '../../../src/domain/rule.ts';
import { auditOf } from '../../../src/engine/audit.ts';
import { sketchTest } from '../../../src/engine/test-alert.ts';
import { loadLanguage } from '../../../src/languages/load-language.ts';
import type { ChatAnswer, ChatEvent } from '../../../src/ports/channel.ts';
import { english } from '../../../src/wording/language.ts';
import { belowRule, hourMs, minuteMs, negativeRule, units } from '../../support/account-facts.ts';
import { buildItem } from '../../support/messages.ts';
import { giveAtOnce } from '../../support/orders.ts';
import { makeAccount } from '../../support/settings.ts';
import { read, startWorld, step, type World } from '../../support/world.ts';

const rule = belowRule({ id: 'sms-low', thresholds: { warning: units(200), critical: units(50) } });
const accounts = [makeAccount('otp', { name: 'OTP <b>production</b>', leadTimeMs: 24 * hourMs })];
let events = 0;

async function talk(
  watched = accounts,
  rules: readonly Rule[] = [rule],
  options: Parameters<typeof startWorld>[1] = {},
) {
  const world = await startWorld({ accounts: watched, rules }, options);
  await read(world, 100);
  const event = (said: ChatEvent['said'], over: Partial<ChatEvent> = {}): ChatEvent => ({
    ...{ channel: 'ops', id: `${++events}`, chat: 'C012AB3CD', standing: 'may act', said },
    person: { id: 'U1', name: 'Ada' },
    ...over,
  });
  const answers = () => createChatAnswers(world.daemon.state, world.views, () => world.daemon.now());
  const say = (text: string, over: Partial<ChatEvent> = {}) => answers()(event({ kind: 'text', text }, over));
  let incident = 'gone';
  const press = (verb: Verb, severity: 'warning' | 'critical' = 'warning', over: Partial<ChatEvent> = {}) => {
    incident = world.daemon.state.alerts.get('otp', 'sms-low')?.incident ?? incident;
    return answers()(event({ kind: 'button', data: writePressed({ verb, incident, severity }) }, over));
  };
  const fill = (data: string, amount: string, by: string) =>
    answers()(event({ kind: 'form', data, amount, by }));
  return { world, say, press, fill, answers, event };
}

const taken = async (world: World) => (await world.views.alert('otp', 'sms-low'))?.acknowledged?.by;
const audit = ({ daemon }: World) =>
  auditOf(daemon.state, { since: 0, before: Number.MAX_SAFE_INTEGER, limit: 9 });

describe('a button', () => {
  test('acknowledges for who pressed it; the audit names chat, id and name', async () => {
    const { world, press } = await talk();
    expect(await press('acknowledge')).toMatchObject({
      isPublic: true,
      text: expect.stringContaining('Ada has'),
    });
    expect(await taken(world)).toBe('Ada');
    expect(audit(world)).toMatchObject([
      { by: 'Ada', from: 'ops C012AB3CD U1', action: 'acknowledge', account: 'otp', rule: 'sms-low' },
    ]);
  });

  test('that comes twice is done once, after a restart too', async () => {
    const { world, press } = await talk();
    const event = { id: 'the same' };
    await press('quiet2h', 'warning', event);
    await world.restart({ downMs: 1000 });
    const { answers } = {
      answers: createChatAnswers(world.daemon.state, world.views, () => world.daemon.now()),
    };
    const incident = world.daemon.state.alerts.get('otp', 'sms-low')?.incident ?? '';
    const data = writePressed({ verb: 'quiet2h', incident, severity: 'warning' });
    const again = await answers({
      ...{ channel: 'ops', id: 'the same', chat: 'C012AB3CD', standing: 'may act' },
      ...{ person: { id: 'U1', name: 'Ada' }, said: { kind: 'button', data } },
    });
    // Nobody may have read the first answer.
    expect(again).toEqual({ isPublic: true, text: 'Ada: no messages about otp sms-low until Fri 14:06.' });
    expect(world.views.silences()).toHaveLength(1);
  });

  test('that comes again is answered as what it was while that is so: who has it, or what was ordered', async () => {
    const { world, say, press } = await talk();
    const event = { id: 'the same' };
    const first = await press('acknowledge', 'warning', event);
    const ordered = await say('ordered otp 1 by 2026-12-20', { id: 'ordered' });
    await world.restart({ downMs: 1000 });
    expect(await press('acknowledge', 'warning', event)).toEqual(first);
    expect(await say('ordered otp 1 by 2026-12-20', { id: 'ordered' })).toEqual(ordered);
    giveAtOnce(world, { kind: 'unacknowledge', account: 'otp', rule: 'sms-low' }, 'Ben');
    const done = { isPublic: false, text: 'This was done already.' };
    expect(await press('acknowledge', 'warning', event)).toEqual(done);
    expect(await taken(world)).toBeUndefined();
  });

  test('that took an alert and comes again once it got worse does not say that somebody has it', async () => {
    const { world, press } = await talk();
    const event = { id: 'the same' };
    await press('acknowledge', 'warning', event);
    await read(world, 20);
    expect(await taken(world)).toBeUndefined();
    const done = { isPublic: false, text: 'This was done already.' };
    expect(await press('acknowledge', 'warning', event)).toEqual(done);
  });

  test.each([
    ['late', 3 * hourMs, 100, 'button'],
    ['for an alert that is over', 1000, 1000, 'text'],
    ['for an alert that got worse', 1000, 20, null],
  ])('that was obeyed and comes again %s is not said to be undone', async (_, downMs, balance, over) => {
    const { world, say, press } = await talk();
    const at = world.daemon.now();
    const order = (name: string, over: Partial<ChatEvent>) =>
      name === 'text' ? say('ordered otp 1 by tomorrow', over) : press('quiet2h', 'warning', over);
    const first = new Map<string, ChatAnswer>();
    for (const id of ['text', 'button']) first.set(id, await order(id, { id, at }));
    await world.restart({ downMs });
    await read(world, balance);
    const done = { isPublic: false, text: 'This was done already.' };
    for (const [id, answer] of first)
      expect(await order(id, { id, at })).toEqual(id === over ? done : answer);
  });

  test.each([
    ['acknowledge', 'Ada has it already.'],
    ['quiet2h', 'Ada has asked for this already: nothing was done.'],
  ] as const)(
    'that two people press at once (%s) is done for one, and names them to the other',
    async (verb, words) => {
      const { world, press } = await talk();
      const ben = { person: { id: 'U2', name: 'Ben' } };
      const [first, second] = await Promise.all([press(verb), press(verb, 'warning', ben)]);
      expect(first).toMatchObject({ isPublic: true, text: expect.stringMatching(/^Ada/) });
      expect(second).toEqual({ isPublic: false, text: words });
      expect(audit(world)).toMatchObject([{ by: 'Ada' }]);
      expect(world.views.silences()).toHaveLength(verb === 'quiet2h' ? 1 : 0);
    },
  );

  test('whose order may be stored or not, as another daemon may own the accounts, is not said to be undone', async () => {
    const { world, press } = await talk(accounts, [rule], { mayActUnpersisted: () => false });
    world.diskFull = true;
    const { text, isPublic } = await press('acknowledge');
    expect(text).toMatch(/^Another daemon may own the accounts now, and nobody knows whether .* stored/);
    expect(isPublic).toBe(false);
    world.diskFull = false;
    await world.pass(minuteMs);
    expect(await taken(world)).toBe('Ada');
  });

  test.each(['status', 'why otp'])(
    'asked of a daemon that stood still while another took the accounts: "%s" is not answered by what it knew before',
    async (words) => {
      const asked = Promise.withResolvers<undefined>();
      const { world, say } = await talk([makeAccount('otp')], [], { confirmOwnership: () => asked.promise });
      const answer = say(words);
      await world.daemon.abandon();
      asked.resolve(undefined);
      expect(await answer).toMatchObject({ text: expect.stringMatching(/^Another daemon may own/) });
    },
  );

  test('pressed late says what is so now, and does nothing', async () => {
    const { world, press } = await talk();
    await read(world, 20);
    expect((await press('acknowledge', 'warning')).text).toBe(
      'This alert is critical by now: nothing was done. Look at its newest message.',
    );
    giveAtOnce(world, { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: '' }, 'Ben');
    expect((await press('acknowledge', 'critical')).text).toBe('Ben has it already.');
    await read(world, 900);
    expect((await press('acknowledge', 'critical')).text).toContain('This alert is over');
  });

  test.each([
    ['another chat', { standing: 'elsewhere' as const }, 'from this chat (C012AB3CD)'],
    ['somebody who may not', { standing: 'stranger' as const }, 'You (U1) are not among'],
  ])('from %s does nothing', async (_, over, words) => {
    const { world, press } = await talk();
    expect((await press('acknowledge', 'warning', over)).text).toContain(words);
    expect(await taken(world)).toBeUndefined();
  });

  test('of a test message does nothing, and says so while the real alert is open', async () => {
    const { world, answers, event } = await talk();
    const sketched = sketchTest(world.daemon.state, { account: 'otp', by: 'Ben' }, world.now);
    const incident = 'id' in sketched ? sketched.id : '';
    for (const verb of ['acknowledge', 'quiet2h', 'ordered', 'why'] as const) {
      const data = writePressed({ verb, incident, severity: 'critical' });
      expect(await answers()(event({ kind: 'button', data }))).toEqual({
        text: 'This button belongs to a test message: nothing was done.',
        isPublic: false,
      });
    }
    expect(await taken(world)).toBeUndefined();
    expect(world.views.silences()).toEqual([]);
  });

  test.each(['', '9.9.x', 'acknowledge', `0.1.${'x'.repeat(59)}`, '0.1.<script>'])(
    'that was forged (%j) does nothing',
    async (data) => {
      const { world, answers, event } = await talk();
      expect((await answers()(event({ kind: 'button', data }))).text).toContain('This button is of another');
      expect(await taken(world)).toBeUndefined();
    },
  );

  test('of quiet mutes its alert for its time; until Monday is nine o’clock there', async () => {
    const { world, press } = await talk();
    await press('quietMonday');
    const [silence] = world.views.silences();
    expect(silence).toMatchObject({ match: { account: ['otp'], rule: ['sms-low'] }, by: 'Ada' });
    expect(new Date(silence?.endsAt ?? 0).toISOString()).toBe('2026-11-23T09:00:00.000Z');
  });

  test('of quiet mutes what its alert speaks for, too, and says so', async () => {
    const { world, answers, event } = await talk(accounts, [rule, negativeRule({ id: 'sms-negative' })]);
    await read(world, -5);
    const incident = world.daemon.state.alerts.get('otp', 'sms-negative')?.incident ?? '';
    const data = writePressed({ verb: 'quiet2h', incident, severity: 'critical' });
    const { text } = await answers()(event({ kind: 'button', data }));
    expect(text).toContain('no messages about otp sms-negative sms-low until');
    expect(world.views.silences()).toMatchObject([{ match: { rule: ['sms-negative', 'sms-low'] } }]);
  });

  test('of quiet counts from when it was pressed, where nobody listened then; who takes an alert takes it late as well', async () => {
    const { world, press } = await talk();
    const [now, at] = [world.daemon.now(), world.daemon.now() - hourMs];
    expect((await press('quiet1h', 'warning', { at })).text).toContain('Nobody listened');
    expect(world.views.silences()).toEqual([]);
    await press('quiet4h', 'warning', { at });
    expect(world.views.silences()).toMatchObject([{ endsAt: now + 3 * hourMs }]);
    expect((await press('acknowledge', 'warning', { at })).isPublic).toBe(true);
  });

  test('asks why, for who pressed it alone', async () => {
    const { press } = await talk();
    const { text, isPublic } = await press('why');
    expect(isPublic).toBe(false);
    expect(text).toContain('100.00');
  });

  test('Ordered… says what to write, so that its chat hears it and in the marks of its language', async () => {
    const { world, press } = await talk(accounts, [
      belowRule({ id: 'sms-low', thresholds: { warning: units(1) } }),
    ]);
    await loadLanguage('es');
    await read(world, 0.5);
    world.daemon.state.settings = { ...world.daemon.state.settings, language: 'es' };
    expect(await press('ordered', 'warning', { prefix: '/' })).toMatchObject({
      text: 'Escribir: /ordered otp 0,6 by friday',
      form: { amount: { value: '0,6' } },
    });
  });

  test('Ordered… asks for an amount, and tells of another who has ordered meanwhile', async () => {
    const { world, press, fill } = await talk();
    const { form } = await press('ordered');
    const data = form?.data ?? '';
    expect((await fill(data, 'much', '')).text).toContain('"much" is not an amount');
    expect((await fill(data, '2700', 'someday')).text).toContain('"someday" is not a day');
    expect((await fill(data, '2700 USD', '')).text).toContain('this account is in CNY');
    expect((await fill(data, '2700 or so', '')).text).toContain('"2700 or so" is not an amount');
    expect((await fill(data, '2,700.00 CNY', 'monday')).text).toContain('2,700.00');
    expect(world.views.expected()).toMatchObject([{ orderedBy: 'Ada', amountMicros: units(2700) }]);
    expect(await taken(world)).toBe('Ada');
    expect((await fill(data, '2700', '')).text).toContain('Ada has ordered 2,700.00 CNY');
    expect(world.views.expected()).toHaveLength(1);
  });

  test.each([
    [
      'asks for the day',
      null,
      { label: 'Arrives by (a day, such as friday or 2026-11-27)', isOptional: false },
    ],
    ['says what an empty day means', hourMs, { label: expect.stringContaining('empty'), isOptional: true }],
  ])('Ordered… %s where the lead time of the account is %s', async (_, leadTimeMs, by) => {
    const { press } = await talk([makeAccount('otp', { leadTimeMs })]);
    expect((await press('ordered')).form).toMatchObject({ by });
  });

  test('Ordered… takes another payment from who was shown the dialog after the first was ordered in the chat', async () => {
    const { world, press, fill } = await talk();
    for (const amount of ['50', '60']) {
      const { form } = await press('ordered');
      expect((await fill(form?.data ?? '', amount, 'monday')).text).toContain(`has ordered ${amount}.00`);
    }
    expect(world.views.expected()).toHaveLength(2);
  });
});

test('a form that is filled in again for another payment takes "again" at the end of the amount, as its answer asks', async () => {
  const { world, press, fill } = await talk();
  const { form } = await press('ordered');
  const data = form?.data ?? '';
  await fill(data, '1400', 'friday');
  expect((await fill(data, '1400 CNY', 'friday')).text).toMatch(
    /^Not done: Ada has ordered .*"again" at its end\.$/,
  );
  expect((await fill(data, '1400 CNY again', 'friday')).text).toContain(
    'Ada has ordered 1,400.00 CNY for OTP',
  );
  expect(world.views.expected()).toHaveLength(2);
});

describe('a command', () => {
  test.each([
    ['status', 'WARNING|warning'],
    ['pay', '.'],
    ['why otp', '100\\.00'],
    ['help', 'quiet ACCOUNT 2h'],
    ['gibberish otp', 'quiet ACCOUNT 2h'],
    ['why otq', 'no account "otq"\\. Did you mean otp\\?'],
    ['why OTP', '100\\.00'],
  ])('%s is answered', async (text, words) => {
    const { say } = await talk();
    expect((await say(text)).text).toMatch(new RegExp(words, 'i'));
  });

  test('takes, mutes and announces', async () => {
    const { world, say } = await talk();
    expect((await say('take otp')).text).toContain('Ada has acknowledged otp sms-low');
    expect(await taken(world)).toBe('Ada');
    expect((await say('quiet otp 2h load test')).text).toContain('no messages about otp until');
    expect(world.views.silences()).toMatchObject([{ comment: 'load test', by: 'Ada' }]);
    await say('ordered otp 1400 by friday');
    expect((await say('ordered otp 1400')).text).toMatch(/Ada has ordered 1,400\.00 CNY .*again/);
    expect((await say('ordered otp 1400 again')).text).toContain('Ada has ordered 1,400.00 CNY for OTP');
    expect(world.views.expected()).toHaveLength(2);
  });

  test('that takes several alerts of which one ends at that moment says which are taken and which is not', async () => {
    const voip = belowRule({ id: 'voip-low', balance: 'voip', thresholds: { warning: units(200) } });
    const { world, event } = await talk(accounts, [rule, voip]);
    const alerts: typeof world.views.alerts = async (asked) => {
      const seen = await world.views.alerts(asked);
      world.provider.set('otp', 100, { voip: 900 });
      await world.pass(step);
      return seen;
    };
    world.provider.set('otp', 100, { voip: 50 });
    await world.pass(step);
    const views = { ...world.views, alerts };
    const answer = createChatAnswers(world.daemon.state, views, () => world.daemon.now());
    const { text, isPublic } = await answer(event({ kind: 'text', text: 'take otp' }));
    expect(text).toMatch(/^Ada has acknowledged otp sms-low\. .*\notp voip-low: Not done: .+\.$/);
    expect(isPublic).toBe(true);
    expect(await taken(world)).toBe('Ada');
  });

  test('about what somebody has, or about another rule, never says that nothing fires', async () => {
    const { say } = await talk();
    await say('take otp');
    expect((await say('take otp')).text).toMatch(/^warning · .*acknowledged by Ada/);
    expect((await say('why otp voip-low')).text).toMatch(/^warning · /);
  });

  test('of two people who order at once is answered with what each has ordered', async () => {
    const { say } = await talk();
    const ben = { person: { id: 'U2', name: 'Ben' } };
    const answers = await Promise.all([
      say('ordered otp 50 by saturday again'),
      say('ordered otp 60 by monday again', ben),
    ]);
    expect(answers.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^Ada has ordered 50.00 CNY .* by Sat /),
      expect.stringMatching(/^Ben has ordered 60.00 CNY .* by Mon /),
    ]);
  });

  test('that takes a rule which does not fire says that nothing was done, and which does', async () => {
    const { world, say } = await talk();
    expect((await say('take otp sms-lwo')).text).toBe(
      'Not done: no incident of rule "sms-lwo" is open for account "otp"; firing: sms-low.',
    );
    expect(await taken(world)).toBeUndefined();
  });

  test('about an account that is fine says each balance by its name and unit', async () => {
    const unit = { id: 'voip', label: 'VoIP', unit: 'minutes' };
    const { balances } = makeAccount('otp');
    const fine = makeAccount('otp', {
      balances: balances.map((each) => (each.id === 'voip' ? { ...each, ...unit } : each)),
    });
    const world = await startWorld({ accounts: [fine], rules: [rule] });
    await read(world, 1000);
    const answers = createChatAnswers(world.daemon.state, world.views, () => world.daemon.now());
    const said = { kind: 'text', text: 'why otp' } as const;
    const event = {
      channel: 'ops',
      id: 'x',
      chat: 'C',
      standing: 'may act',
      person: { id: 'U1', name: 'Ada' },
      said,
    } as const;
    expect((await answers(event)).text.split('\n')).toEqual([
      'Nothing fires for otp.',
      'SMS balance: 1,000.00 CNY, how long it lasts is unknown',
      'VoIP balance: 0 minutes, how long it lasts is unknown',
    ]);
  });

  test('may call an account by a name with spaces, as messages do', async () => {
    const { world, say } = await talk();
    expect((await say('why otp <B>production</b>')).text).toContain('SMS balance: 100.00 CNY');
    await say('take OTP <b>production</b> sms-low');
    expect(await taken(world)).toBe('Ada');
  });

  test('reads an amount as messages print it, with the day after it', async () => {
    const { world, say } = await talk();
    expect((await say('ordered otp 1,400 USD by 2026-12-20')).text).toBe(
      'Not done: this account is in CNY. Write that or no currency, not "USD".',
    );
    await say('ordered otp 1,400 CNY by 2026-12-20');
    expect(world.views.expected()).toMatchObject([
      { amountMicros: units(1400), by: Date.UTC(2026, 11, 20, 23, 59), comment: '' },
    ]);
  });

  test('says a name cleaned and cut, as messages do, whatever is answered', async () => {
    const name = `OTP\u202e${'x'.repeat(200)}`;
    const told = `OTP${'x'.repeat(76)}…`;
    const { world, say } = await talk([makeAccount('otp', { name })]);
    expect((await say('ordered otp 1400 by friday')).text).toContain(`for ${told}, expected`);
    await read(world, 900);
    expect((await say('why otp')).text).toContain(`Nothing fires for ${told}.\n`);
    expect((await say('take otp')).text).toContain(`Nothing fires for ${told}.\n`);
  });

  test('says of two alerts about one empty balance the one that says most, and the other where it is asked for', async () => {
    const { world, say } = await talk(accounts, [rule, negativeRule({ id: 'sms-negative' })]);
    await read(world, -18);
    const [line = '', ...others] = (await say('status')).text.split('\n');
    expect([line, others]).toEqual([expect.stringMatching(/^critical · .*used up$/), []]);
    expect((await say('why otp')).text).not.toMatch(/\n\n/);
    expect((await say('why otp sms-low')).text).toContain('below 50.00 CNY');
    expect((await say('take otp')).text).toContain('otp sms-low');
    expect((await say('status')).text).toBe(`${line} (acknowledged by Ada)`);
    expect((await say('take otp')).text).toBe(`${line} (acknowledged by Ada)`);
  });

  describe('where another account has a name like an id', () => {
    const others = [
      makeAccount('otp', { name: 'Production' }),
      makeAccount('spare', { name: 'OTP' }),
      makeAccount('otp-2', { name: 'OTP 2' }),
      makeAccount('eu-1', { name: 'Europe' }),
      makeAccount('eu-2', { name: 'Europe' }),
    ];

    test.each(['take otp', 'quiet otp 2h', 'ordered otp 1400 by friday'])(
      '%s is for the account that has the exact id',
      async (text) => {
        const { world, say } = await talk(others);
        await say(text);
        expect(audit(world)).toMatchObject([{ account: 'otp' }]);
      },
    );

    test.each([
      ['quiet OTP 2h', '"OTP" may be one of several accounts: otp, spare. Write the id of one.'],
      ['take europe', '"europe" may be one of several accounts: eu-1, eu-2. Write the id of one.'],
      ['ordered otp 2 1400', '"otp 2" may be one of several accounts: otp-2, otp. Write the id of one.'],
    ])('%s names the ids that may be meant, and nothing is done', async (text, words) => {
      const { world, say } = await talk(others);
      expect(await say(text)).toEqual({ text: words, isPublic: false });
      expect(audit(world)).toEqual([]);
    });

    test('a name with spaces that begins with no exact id is that of its account', async () => {
      const { world, say } = await talk(others);
      await say('quiet OTP  2 2h');
      expect(audit(world)).toMatchObject([{ account: 'otp-2' }]);
    });
  });

  test('that nobody can read is answered by what can be written, or by the word that is wrong', async () => {
    const { world, say } = await talk();
    for (const text of ['状态', 'tomar otp', 'why', '💥'])
      expect((await say(text)).text).toMatch(/^This is no command, and nothing was done\.\nstatus – /);
    expect((await say('quiet otp forever')).text).toContain('"forever" is not a length of time');
    expect((await say('ordered otp 1.400,5')).text).toContain('"1.400,5" is not an amount');
    expect(audit(world)).toEqual([]);
  });

  test('that is refused says why', async () => {
    const { world, say } = await talk();
    expect((await say('quiet otp 900d')).text).toBe('Not done: a silence may last 366 days at most.');
    world.diskFull = true;
    await world.pass(minuteMs);
    expect((await say('take otp')).text).toContain('Ada has acknowledged');
  });
});

test('buttons stand below what is open, and fit into what Telegram takes', () => {
  const reader = { language: english, timezone: 'UTC', now: 0 };
  const id = '0190f3f4-7f7e-7cc2-b1a5-2f3c4d5e6f70';
  const open = buttonsOf(buildItem({ incident: { id } }), reader);
  expect(open.map(({ label }) => label)).toEqual([
    ...['Acknowledge', 'Quiet 2 h', 'Quiet 1 h', 'Quiet 4 h', 'Quiet until Monday 9:00', 'Ordered…', 'Why?'],
  ]);
  for (const { data, verb } of open) {
    expect(Buffer.byteLength(data)).toBeLessThanOrEqual(64);
    expect(readPressed(data)).toMatchObject({ verb, incident: id });
  }
  expect(buttonsOf(buildItem({ incident: { id, resolvedAt: 1 } }), reader)).toEqual([]);
});
