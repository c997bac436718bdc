import { expect, it } from 'vitest';
import type { BalanceDefinition } from '../../src/domain/reading.ts';
import { renderMetrics } from '../../src/http/metrics.ts';
import { balanceCell, burnOf } from '../../src/http/page/markup.ts';
import { Totals } from '../../src/http/page/totals.ts';
import { wordItem } from '../../src/messages/item-wording.ts';
import { httpJsonKind, httpJsonSchema } from '../../src/providers/http-json/http-json-kind.ts';
import { negative } from '../../src/rules/negative.ts';
import { accountJson } from '../../src/views/account-json.ts';
import { planPayments } from '../../src/views/payment-plan.ts';
import { english } from '../../src/wording/language.ts';
import { factsAfter, minuteMs, negativeRule, runwayRule } from '../support/account-facts.ts';
import { buildAccountView, buildRunway, dayMs, micros, viewsNow } from '../support/built-views.ts';
import { buildAccount, buildItem, buildMessage, messageNow } from '../support/messages.ts';
import { makeAccount, makeProvider } from '../support/settings.ts';
import { showingAccounts } from '../support/showing-accounts.ts';
import { startWorld, World } from '../support/world.ts';

/** Money, and minutes at the same provider. */
const balances: readonly BalanceDefinition[] = [
  { id: 'main', label: 'Main', alertsBelowZero: true },
  { id: 'calls', label: 'Calls', alertsBelowZero: true, unit: 'minutes' },
];
const reading = { at: viewsNow, balances: { main: micros(12.5), calls: micros(340) }, currency: 'EUR' };
const payment = (balance: string, amount: number) => ({
  balance,
  micros: micros(amount),
  dueAt: viewsNow + dayMs,
  isEmpty: false,
  isDue: false,
  covers: 'thirty-days' as const,
});
const account = buildAccountView({
  id: 'pbx',
  name: 'PBX',
  balances,
  reading,
  currency: 'EUR',
  runways: {
    main: buildRunway({ balance: 'main', burnPerDay: micros(2) }),
    calls: buildRunway({ balance: 'calls', burnPerDay: micros(30) }),
  },
  payments: [payment('main', 50), payment('calls', 900)],
});
const frame = { language: english, now: viewsNow, timezone: 'UTC' };

it('a balance has the unit that its description says', () => {
  const { balances: _balances, words: _words, ...shared } = makeProvider();
  const config = httpJsonSchema.parse({
    type: 'http-json',
    request: { url: 'https://pbx.example.net/' },
    balances: [
      { id: 'main', amount: '$.eur' },
      { id: 'calls', amount: '$.minutes', unit: 'minutes' },
    ],
    currency: { fixed: 'EUR' },
  });
  const entry = httpJsonKind.build(shared, config);
  expect('problems' in entry ? entry : entry.balances).toMatchObject([{ id: 'main' }, { unit: 'minutes' }]);
});

it('the page shows minutes as minutes, and sums them up apart from money', () => {
  expect(balanceCell(account, 'calls', frame).markup).toContain('340 minutes');
  expect(balanceCell(account, 'main', frame).markup).toContain('12.50 EUR');
  expect(burnOf(account, 'calls', frame)).toContain('30 minutes');
  const totals = new Totals();
  totals.add(account);
  const [, money = '', minutes = ''] = (totals.table(frame)?.markup ?? '').split('<tr>').slice(1);
  expect(money).toContain('12.50 EUR');
  expect(money).not.toContain('340');
  // No balance in euro is called Calls: it is not zero.
  expect(money).not.toContain('0.00 EUR');
  expect(minutes).toContain('340 minutes');
});

it('no payment in minutes is part of a sum of money', async () => {
  const { views } = await startWorld();
  const { currencies } = await planPayments(showingAccounts(views, [account]), viewsNow);
  expect(currencies.map(({ currency, next30Days }) => [currency, next30Days])).toEqual([
    ['EUR', micros(50)],
    ['minutes', micros(900)],
  ]);
});

it('metrics name the unit of each balance', async () => {
  const { views } = await startWorld();
  let text = '';
  for await (const part of renderMetrics(showingAccounts(views, [account]), {
    now: viewsNow,
    refusedTokens: 0,
  }))
    text += part;
  expect(text).toContain('lowwater_balance{account="pbx",balance="calls",currency="minutes"} 340');
  expect(text).toContain('lowwater_balance{account="pbx",balance="main",currency="EUR"} 12.5');
});

it('messages and explanations speak of minutes', () => {
  const item = buildItem({
    balance: 'calls',
    balanceLabel: 'Calls',
    account: buildAccount({
      balances,
      reading: { ...reading, at: messageNow },
      runway: null,
      clearsAt: null,
    }),
  });
  const { headline, figures } = wordItem(item, buildMessage([item]));
  expect(`${headline} ${JSON.stringify(figures)}`).toMatch(/minutes/);
  expect(JSON.stringify(figures)).not.toMatch(/340[^"]* EUR/);
  const facts = factsAfter([reading], { balances });
  const rule = negativeRule({ balance: 'calls' });
  expect(negative.factsBehind(rule, facts)).toContainEqual({
    name: 'currency',
    value: { unit: 'text', text: 'minutes' },
  });
});

it('an account as programs read it says what each of its balances counts', () => {
  expect(accountJson(account)).toMatchObject({ currency: 'EUR', units: { main: 'EUR', calls: 'minutes' } });
  const unread = buildAccountView({ balances, reading: null, currency: null });
  expect(accountJson(unread).units).toEqual({ main: null, calls: 'minutes' });
});

it('minutes are used up at zero, whatever credit there is in money', async () => {
  const pbx = makeAccount('pbx', { creditLimitMicros: micros(100), currency: 'EUR', balances });
  const rules = balances.flatMap(({ id: balance, label: balanceLabel }) => [
    negativeRule({ id: `${balance}-negative`, severity: 'warning', balance, balanceLabel }),
    runwayRule({ id: `${balance}-runway`, balance, balanceLabel, lookbackMs: null, floorMicros: null }),
  ]);
  const world = new World({ accounts: [pbx], rules });
  const tell = async (left: number) => {
    world.provider.answer('pbx', { balances: { main: micros(left), calls: micros(left) }, currency: 'EUR' });
    await world.pass(30 * minuteMs);
  };
  const begun = () => world.news().filter((news) => news.includes(' firing '));
  world.daemon.start();
  // Two an hour: a credit of 100 lasts two days longer.
  for (let left = 100; left >= 60; left--) await tell(left);
  const { runways } = (await world.views.account('pbx')) ?? {};
  expect([runways?.main?.emptyMicros, runways?.calls?.emptyMicros]).toEqual([micros(-100), 0]);
  expect(begun()).toEqual(['pbx/calls-runway firing warning']);
  await tell(-100);
  expect(begun().join()).toContain('pbx/main-negative firing critical');
});
