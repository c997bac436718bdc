import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { englishCatalogue } from '../../../scripts/write-languages.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { signLink } from '../../../src/http/ack-link.ts';
import { loadLanguage } from '../../../src/languages/load-language.ts';
import { ruleKinds } from '../../../src/rules/registry.ts';
import { readWrittenRule } from '../../../src/rules/rule-schema.ts';
import { keptPhrases } from '../../../src/wording/phrase.ts';
import { hourMs, units } from '../../support/account-facts.ts';
import { hasBrowser, openPage, shareBrowser } from '../../support/browser.ts';
import { putWithoutScript } from '../../support/browser-bed.ts';
import { startDemoWorld } from '../../support/demo-world.ts';
import { FakeViews } from '../../support/fake-views.ts';
import { give } from '../../support/orders.ts';
import { pseudoLanguage } from '../../support/pseudo-language.ts';
import { runFakeServer, serveWorld } from '../../support/web-server.ts';
import { startWorld, step, type World } from '../../support/world.ts';

const accounts = ['otp', 'marketing-eu', 'batch', 'billing', 'voice-alerts', 'support', 'new-account'];

/** What a browser shows of the daemon in a crisis: every page, with what is refused and what was filled in wrongly. */
const pages: readonly (readonly [path: string, form?: Readonly<Record<string, string>>])[] = [
  ['/'],
  ['/?q=nothing'],
  ['/?sort=burn&order=desc'],
  ['/alerts'],
  ['/alerts?state=past'],
  ['/alerts?q=nothing'],
  ['/pay'],
  ['/review'],
  ['/review?range=365d'],
  ['/messages'],
  ['/silences'],
  ['/audit'],
  ['/sessions'],
  ['/time-zone'],
  ...accounts.map((id) => [`/accounts/${id}`] as const),
  ['/accounts/otp?range=30d&balance=both'],
  ['/accounts/otp/try/sms-low'],
  ['/accounts/otp/try/sms-low', { 'rule.thresholds.warning': 'much', over: '30d' }],
  ['/accounts/otp/try/sms-low', { 'rule.thresholds.warning': '300', over: '30d' }],
  ['/nowhere'],
  ['/accounts/nobody'],
  ['/accounts/otp?since=2030-01-01'],
  ['/silences', { account: 'otp', for: '2h' }],
  ['/silences', { account: 'nobody', for: '2h' }],
  ['/silences', { account: 'otp', for: 'long' }],
  ['/silences', { for: '2h' }],
  ['/pay/ordered', { account: 'otp', balance: 'sms', amount: 'much' }],
  ['/pay/ordered', { account: 'otp', balance: 'sms', amount: '500', 'seen-worst': 'warning' }],
];

/** What stays as it is in every language: names, ids, comments, keys of the configuration, what a vendor or a system said. */
const kept =
  /OTP production|team=identity region=cn|^Enter$|^Esc$|Marketing Europe|Voice alerts|Billing notices|Batch jobs|Support desk|New account|load test until 22:00|invoice is with finance|weekly provider maintenance|connection refused|the scripted provider|lowwater test|^(?:since|for|amount): |^Wei$|lowwater init|English|Español/g;

const token = 't'.repeat(32);

beforeAll(async () => {
  await englishCatalogue();
  await Promise.all([loadLanguage('zh-CN'), loadLanguage('es')]);
});

/** A daemon in a crisis, and the link of a message of it. */
async function startCrisis() {
  const world = await startDemoWorld();
  const ordered = { account: 'voice-alerts', balance: 'voip', amountMicros: units(500), comment: '' };
  await give(
    world.views,
    { kind: 'expect-top-up', ...ordered, arrivesBy: world.now + hourMs, acknowledges: false },
    'Wei',
  );
  const [key] = world.views.linkKeys();
  const incident = (await world.views.alert('otp', 'sms-low'))?.incident ?? '';
  const signed = (grant: { readonly incident: string; readonly expiresAt: number }) =>
    key === undefined ? '' : `/a/${signLink(key, grant)}`;
  const expiresAt = world.now + hourMs;
  await give(world.views, { kind: 'renew-calendar-key', key: 'k'.repeat(43) }, 'Wei');
  return {
    crisis: await serveWorld(world),
    link: signed({ incident, expiresAt }),
    deadLinks: [
      signed({ incident: 'over', expiresAt }),
      signed({ incident, expiresAt: world.now }),
      '/a/forged',
    ],
  };
}

/** A daemon in a crisis, one that is well, and one that asks who is there. */
async function startAll() {
  return {
    ...(await startCrisis()),
    kinds: await serveWorld(await liveWithEveryKind()),
    standby: await serveStandby(),
    calm: await serveWorld(await startWorld()),
    locked: await serveWorld(await startWorld(), { settings: { token: new Secret(token) } }),
  };
}

/** Rules of every kind, which fired, were pending and could not tell. */
async function liveWithEveryKind(): Promise<World> {
  const keys: Readonly<Record<string, object>> = {
    below: { thresholds: { info: 500, warning: 200, critical: '50.00' }, hysteresis: '10%' },
    runway: { thresholds: { warning: '7d', critical: 'leadTime + 1d' } },
    budget: { per: 'month', thresholds: { warning: 100, critical: 200 } },
    drop: { by: '25%', window: '1h' },
    idle: { window: '1h' },
    'top-up': { atLeast: 10 },
    stale: { after: '10m' },
  };
  const rules = ruleKinds.map(({ type }) => {
    const written = readWrittenRule({ id: type, type, ...keys[type] });
    if (written.kind !== 'rule') throw new Error(`${type}: ${JSON.stringify(written.problems)}`);
    return written.rule;
  });
  const world = await startWorld({ accounts: ['otp', 'batch'], rules });
  for (const sms of [400, 380, 900, 300, 40, -12]) {
    world.provider.set('otp', sms);
    world.provider.set('batch', 100, { currency: sms < 0 ? 'EUR' : 'CNY' });
    await world.pass(step);
  }
  world.provider.fail('otp', 'auth_failed');
  world.provider.fail('batch', 'timeout');
  await world.pass(hourMs);
  return world;
}

/** A page that shows all that a daemon says of its cluster. */
async function serveStandby() {
  const views = new FakeViews();
  const said = keptPhrases().filter(({ name }) => name.startsWith('cluster.'));
  const problems = said.map(({ english }) => english.replaceAll(/\{\w+\}/g, '7'));
  views.daemonStatus = { ...views.daemonStatus, problems };
  const server = await runFakeServer({ views });
  onTestFinished(() => server.close());
  return server;
}

type Daemons = Awaited<ReturnType<typeof startAll>>;

interface Page {
  readonly name: string;
  readonly html: string;
}

async function readAll(
  { kinds, standby, crisis, calm, locked, link, deadLinks }: Daemons,
  language: string,
): Promise<readonly Page[]> {
  const all = [
    ...pages.map(([path, form]) => [crisis, path, form] as const),
    ...[link, ...deadLinks].map((path) => [crisis, path] as const),
    ...['/', '/alerts', '/accounts/otp', '/accounts/batch', '/review', '/messages'].map(
      (path) => [kinds, path] as const,
    ),
    [standby, '/'] as const,
    [calm, '/'] as const,
    [locked, '/sign-in'] as const,
    [locked, '/sign-in', { token: 'wrong' }] as const,
    [locked, '/pay.ics?key=wrong'] as const,
  ];
  const read: Page[] = [];
  for (const [server, path, form] of all) {
    const headers = { 'accept-language': language, accept: 'text/html', origin: server.url };
    const body = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) };
    const answer = await fetch(server.url + path, { headers, ...body });
    read.push({ name: `${path} ${JSON.stringify(form ?? '')}`, html: await answer.text() });
  }
  return read;
}

let read: Promise<Readonly<Record<string, readonly Page[]>>> | null = null;

/** Every page of the same daemons by language, read once. */
function readEach() {
  read ??= startAll().then(async (daemons) => {
    const pages: Record<string, readonly Page[]> = {};
    for (const language of ['zh-CN', 'es', 'en']) pages[language] = await readAll(daemons, language);
    return pages;
  });
  return read;
}

/** What people read or hear of a page, piece by piece. */
function textsOf(html: string): readonly string[] {
  return html
    .replaceAll(/<svg\b([^>]*)>[\s\S]*?<\/svg>/g, '<i$1>')
    .replaceAll(/<(style|script|pre)\b[\s\S]*?<\/\1>/g, ' ')
    .replaceAll(/<(code|bdi)>[^<]*<\/\1>/g, ' ')
    .replaceAll(/ (?:aria-label|title|placeholder|alt|data-label|data-words)="([^"]*)"/g, '>\n$1\n<')
    .split(/<[^>]*>/)
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

const linksOf = (html: string) =>
  [...html.matchAll(/ (?:href|action)="([^"#]*)"/g)].map(([, address]) => address);

/** Amounts with their currency, without the marks that a language puts between figures. */
const amountsOf = (html: string) =>
  [
    ...textsOf(html)
      .join(' \n ')
      .matchAll(/-?[\d.,]*\d(?= (?:CNY|EUR|USD))/g),
  ]
    .map(([amount]) => amount.replaceAll(/[.,]/g, ''))
    .toSorted();

/** Moments for programs, and times of day as they are read. */
const momentsOf = (html: string) =>
  [...html.matchAll(/ datetime="([^"]+)"|\b(\d\d:\d\d)\b/g)]
    .map(([, exact, clock]) => exact ?? clock)
    .toSorted();

describe.each(['zh-CN', 'es'])('In %s', (language) => {
  it('every page has the links, the amounts and the moments that it has in English', async () => {
    const { [language]: said = [], en: english = [] } = await readEach();
    expect(said).toHaveLength(english.length);
    for (const [index, { name, html }] of said.entries()) {
      const same = english[index]?.html ?? '';
      expect(html, name).toContain(`<html lang="${language}"`);
      expect([name, ...linksOf(html)]).toEqual([name, ...linksOf(same)]);
      expect([name, ...amountsOf(html)]).toEqual([name, ...amountsOf(same)]);
      expect([name, ...momentsOf(html)]).toEqual([name, ...momentsOf(same)]);
    }
  });

  it('the calendar has the days, the links and the amounts that it has in English, and no English', async () => {
    const { crisis } = await startCrisis();
    const read = async (language: string) => {
      const headers = { 'accept-language': language };
      const answer = await fetch(`${crisis.url}/pay.ics?key=${'k'.repeat(43)}`, { headers });
      return (await answer.text()).replaceAll('\r\n ', '').replaceAll('\\', '').split('\r\n');
    };
    const [said, english] = [await read(language), await read('en')];
    const machine = (lines: readonly string[]) =>
      lines.filter((line) => /^(?:DTSTART|DTEND|UID|URL)/.test(line));
    const told = said.filter((line) => /^(?:SUMMARY|DESCRIPTION)/.test(line));
    expect(told.length).toBeGreaterThan(3);
    expect(machine(said)).toEqual(machine(english));
    expect(amountsOf(said.join('<br>'))).toEqual(amountsOf(english.join('<br>')));
    expect(told.filter((line) => isEnglish(line.slice(line.indexOf(':') + 1), language))).toEqual([]);
  });
});

/** Two words of English in Chinese; a word that Spanish does not have in Spanish. */
const englishWords: Readonly<Record<string, RegExp>> = {
  'zh-CN': /[A-Za-z]{2,}['’]? [a-z]{2,}|^[A-Z][a-z]+$/,
  es: /\b(?:the|and|with|this|since|from|was|for|account|alert|not)\b/i,
};

const isEnglish = (text: string, language: string) =>
  englishWords[language]?.test(text.replaceAll(kept, '')) === true;

it.each(['zh-CN', 'es'])(
  'In %s no English sentence is left on any page',
  async (language) => {
    const { [language]: said = [] } = await readEach();
    expect(said).not.toEqual([]);
    const english = said.flatMap(({ name, html }) =>
      textsOf(html)
        .filter((text) => isEnglish(text, language))
        .map((text) => `${name}: ${text}`),
    );
    expect(english).toEqual([]);
  },
  60_000,
);

it('In Chinese no space follows a sentence on any page', async () => {
  const pages = (await readEach())['zh-CN'] ?? [];
  expect(pages).not.toEqual([]);
  // A problem, and whether the page updates itself, stand by themselves.
  const spaced = pages.flatMap(({ name, html }) =>
    [...html.matchAll(/[^<>]*[。；！？] +(?!<s|·)\S+/g)].map(([said]) => `${said} on ${name}`),
  );
  expect(spaced).toEqual([]);
});

describe('In Spanish', () => {
  it('every heading of a section, column and caption begins with a capital letter', async () => {
    const headings = (await readEach()).es?.flatMap(({ name, html }) =>
      [...html.matchAll(/<(?:h2|th scope="col"|figcaption)[^>]*>(?:<a [^>]*>)?([^<]+)/g)].map(
        ([, said]) => `${said} on ${name}`,
      ),
    );
    expect(headings?.filter((heading) => /^\p{Ll}/u.test(heading))).toEqual([]);
  });
});

describe.skipIf(!hasBrowser())('In a browser', () => {
  it.each([
    ['en', 'Updates by itself.', /\w{3} \d+ \w{3} \d\d:\d\d UTC/, /\d+ minutes ago/],
    ['zh-CN', '自动更新。', /11月\d+日 周. \d\d:\d\d UTC/, /\d+ 分钟前/],
    ['es', 'Se actualiza por sí sola.', /\w{3} \d+ nov \d\d:\d\d UTC/, /hace \d+ minutos/],
  ])(
    'what scripts add to a page is said in %s',
    async (language, fresh, moment, age) => {
      const { crisis } = await startCrisis();
      const { browser } = await shareBrowser();
      const context = await browser.newContext();
      await context.addCookies([{ name: 'lowwater_language', value: language, url: crisis.url }]);
      const page = await context.newPage();
      await page.clock.install();
      await page.addInitScript(`
      window.drawn = [];
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) { window.drawn.push(text); fillText.call(this, text, ...rest); };
    `);
      await openPage(page, `${crisis.url}/accounts/otp?balance=both`);
      await page.getByText(fresh).waitFor();
      await page
        .locator('.u-over')
        .first()
        .hover({ position: { x: 200, y: 50 } });
      await expect.poll(() => page.locator('.u-legend').first().innerText()).toMatch(moment);
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
      // Some instants are still to come.
      const time = page
        .locator('time[data-age]')
        .filter({ hasText: /ago|前|hace/ })
        .first();
      const before = await time.innerText();
      await page.clock.fastForward(hourMs / 3);
      await expect.poll(() => time.innerText()).not.toBe(before);
      expect(await time.innerText()).toMatch(age);
      await crisis.close();
      await page.locator('#lost').waitFor();
      const said = (await page.evaluate(
        `[...window.drawn, document.title, ...document.body.innerText.split('\\n')]`,
      )) as string[];
      await context.close();
      expect(said.filter((text) => isEnglish(text.trim(), language))).toEqual([]);
    },
    60_000,
  );
});

describe('In a language that is longer by 40 % and has the plurals of Polish', () => {
  it('every page comes from the catalogue', async () => {
    await pseudoLanguage('es', async () => {
      const pages = await readAll(await startAll(), 'es');
      const unmarked = pages.flatMap(({ name, html }) =>
        textsOf(html)
          .filter((text) => !/[⟦⟧]/.test(text) && /[A-Za-z]{3,} [a-z]{3,}/.test(text.replaceAll(kept, '')))
          .map((text) => `${name}: ${text}`),
      );
      expect(unmarked).toEqual([]);
    });
  });

  it.skipIf(!hasBrowser())(
    'no page scrolls sideways on a phone or a laptop, no word is cut, and none runs over its box',
    async () => {
      await pseudoLanguage('es', async () => {
        const { crisis, link } = await startCrisis();
        const { browser } = await shareBrowser();
        const context = await browser.newContext({ viewport: { width: 390, height: 800 }, locale: 'es' });
        const page = await context.newPage();
        const found: string[] = [];
        // What scripts add is the same around every page, a chart, and a trial's form.
        const drawn = new Set(['/', '/accounts/otp?range=30d&balance=both', '/accounts/otp/try/sms-low']);
        for (const path of new Set([...drawn, ...pages.map(([each]) => each), link])) {
          if (drawn.has(path)) await page.goto(crisis.url + path);
          else await putWithoutScript(page, path);
          for (const width of [1000, 1280, 390]) {
            await page.setViewportSize({ width, height: 800 });
            const wrong = (await page.evaluate(`(() => {
          const cut = [...document.querySelectorAll('main *')].filter((element) => {
            const { overflowX } = getComputedStyle(element);
            return (/hidden|clip/.test(overflowX) || element.matches('.tile, .panel, .lasts')) && element.clientWidth > 2 && element.scrollWidth > element.clientWidth + 1;
          });
          const isWide = document.documentElement.scrollWidth > innerWidth;
          const wide = isWide ? [...document.querySelectorAll('body *')].filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > innerWidth && element.closest('.scroll') === null).slice(-1) : [];
          return [...wide, ...cut].map((element) => (isWide ? 'scrolls to ' + document.documentElement.scrollWidth + ' ' : '') + element.outerHTML.slice(0, 160));
        })()`)) as string[];
            found.push(...wrong.map((what) => `${path} at ${width}: ${what}`));
          }
        }
        await context.close();
        expect(found).toEqual([]);
      });
    },
  );
});
