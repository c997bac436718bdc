import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { pushedKind } from '../src/providers/pushed/pushed-kind.ts';
import { minuteMs, smsLow, units } from './support/account-facts.ts';
import { makeAccount, makeProvider } from './support/settings.ts';
import { startWorld } from './support/world.ts';

const outside = 'balance|id|channel|label|name|key|header|word|field|groupBy|routeBy';
/** `record[name]`, but no `record[name] = …`, no type and no literal with such a key. */
const lookup = new RegExp(`[\\w)\\]]\\??\\.?\\[(?:\\w+\\.)?(?:${outside})\\](?!\\s*(?:=[^=>]|\\+=|-=|: ))`);

/** There the names are this program's own: a column, a section, a key of a schema. */
const ownNames = [
  'channels/post-kind.ts',
  'channels/slack/slack-kind.ts',
  'cli/run-command-line.ts',
  'cli/terminal/table.ts',
  'config/hash-settings.ts',
  'config/json-schema.ts',
  'domain/foreign-text.ts',
  'domain/own.ts',
  'http/exposition.ts',
  'http/page/alerts-page.ts',
  'rules/rule-schema.ts',
  'simulator/account.ts',
  'spending/unusual.ts',
  'views/public-object.ts',
];

it('what has a name of the outside is looked up by `ownOf`', () => {
  const found = globSync('src/**/*.ts')
    .filter((file) => !ownNames.some((own) => file.endsWith(own)))
    .flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .map((line, index) => `${file}:${index + 1} ${line.trim()}`)
        .filter(
          (line) =>
            lookup.test(line) &&
            !/hasOwn|^\S+ (?:\*|\/\/|\/\*)|(?:typeof|keyof|const|of|return|delete) \w*\[/.test(line),
        ),
    );
  expect(found).toEqual([]);
});

it.each(['constructor', 'valueof'])(
  'accounts, channels, rules, labels and balances may be called %s',
  async (name) => {
    const balances = [{ id: name, label: name, alertsBelowZero: true }];
    const own = { ...makeProvider(), name, type: pushedKind.type, polled: false, balances };
    const account = makeAccount(name, { provider: name, baseUrl: null, credentials: {}, balances });
    const world = await startWorld({
      accounts: [account, makeAccount('otp', { labels: { [name]: name } })],
      providers: { [name]: own },
      channels: [name],
      rules: [{ ...smsLow({ warning: units(200) }), id: name, match: { labels: { [name]: [name] } } }],
    });
    const reading = { account: name, at: world.now, currency: 'EUR' };
    const { views } = world;
    expect(await views.pushReading({ ...reading, balances: {} })).toMatchObject({ refused: 'invalid' });
    expect(await views.pushReading({ ...reading, balances: { [name]: -5 } })).toEqual({ isNew: true });
    world.provider.set('otp', 100);
    await world.pass(10 * minuteMs);
    const sent = world.news(name);
    expect(sent.join()).toContain(`otp/${name} firing warning`);
    expect(sent.join()).toContain(`${name}/${name}-negative firing critical`);
    expect((await views.account(name))?.reading?.balances).toEqual({ [name]: -5 });
    await world.restart({ downMs: minuteMs });
    await world.pass(minuteMs);
    expect(world.news(name)).toEqual([]);
  },
);
