import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser, openPage, wide, withPage } from '../support/browser.ts';
import {
  ackLink,
  loadAxe,
  narrow,
  putWithoutScript,
  seriousFindings,
  useBrowser,
  widthOf,
} from '../support/browser-bed.ts';

const pages = [
  ['overview', '/'],
  ['account', '/accounts/otp?range=7d'],
  ['account-voip', '/accounts/voice-alerts?balance=voip&range=30d'],
  ['account-both', '/accounts/otp?balance=both&since=2026-11-01&until=2026-11-18'],
  ['trial', '/accounts/otp/try/sms-low'],
  ['alerts', '/alerts'],
  ['alerts-past', '/alerts?state=past'],
  ['pay', '/pay'],
  ['silences', '/silences'],
  ['messages', '/messages'],
  ['time-zone', '/time-zone'],
  ['acknowledge', ackLink],
  ['review', '/review?range=30d'],
  ['audit', '/audit'],
  ['sign-in', '/sign-in'],
] as const;
/** The narrowest that WCAG asks for (1.4.10), a tablet, a laptop, a screen on the wall. */
const widths = [320, 820, 1140, 1920];

it('has styles for widths between the narrowest and the widest on the overview alone, which axe looks at there', () => {
  const folder = join(import.meta.dirname, '../../src/http/assets/styles');
  const between = globSync(join(folder, '*.css')).filter((path) => {
    const limits = [...readFileSync(path, 'utf8').matchAll(/\((?:min|max)-width: ([\d.]+)em\)/g)];
    // Cards up to 915 px, and a page that grows no wider from 1400 px on, where letters are as large as usual.
    return limits.some(([, limit]) => ![915, 1400].includes(Number(limit) * 16));
  });
  expect(between.map((path) => basename(path))).toEqual(['overview.css']);
});

interface Observations {
  readonly complaints: readonly string[];
  readonly findings: readonly string[];
  readonly facts: { readonly scripted: string; readonly plain: string };
  /** Widths at which it scrolls sideways; and how wide it is without a script on a phone. */
  readonly tooWide: { readonly scripted: readonly number[]; readonly plain: number };
}

describe.skipIf(!hasBrowser())('each page in a browser', () => {
  const seen = new Map<string, Promise<Observations>>();
  const bed = useBrowser();

  describe.each(pages)('%s', (name) => {
    it('loads without a complaint of the console or the policy', async () => {
      expect((await look(name)).complaints).toEqual([]);
    });

    it('has nothing serious for axe at any width, in light and in dark', async () => {
      expect((await look(name)).findings).toEqual([]);
    });

    it('scrolls sideways at no width, with or without a script', async () => {
      const { tooWide } = await look(name);
      expect(tooWide.scripted).toEqual([]);
      expect(tooWide.plain).toBeLessThanOrEqual(narrow.width);
    });

    it('shows the same facts without a script', async () => {
      const { facts } = await look(name);
      expect(facts.plain.length).toBeGreaterThan(30);
      expect(facts.plain).toBe(facts.scripted);
    });
  });

  it('would tell of a fault of words, of structure and of colours, and not of what is less grave', async () => {
    await withPage(bed.scripted, async (page) => {
      await page.goto(bed.server.url);
      await loadAxe(page);
      await page.evaluate(`(() => {
        const main = document.querySelector('main');
        main.innerHTML = '<h6></h6><img src="/"><button></button><ul><p>x</p></ul><p>pale</p>';
        Object.assign(main.lastChild.style, { color: '#ccc', background: '#fff' });
      })()`);
      const rulesOf = (findings: readonly string[]) => findings.map((finding) => finding.split(':')[0]);
      const inTheLight = rulesOf(await seriousFindings(page));
      expect(inTheLight.toSorted()).toEqual(['button-name', 'color-contrast', 'image-alt', 'list']);
      expect(rulesOf(await seriousFindings(page, ['color-contrast']))).toEqual(['color-contrast']);
    });
  });

  it('at every width runway and the link of each account are in sight', async () => {
    await withPage(bed.scripted, async (page) => {
      await openPage(page, bed.server.url);
      for (const width of [360, 840, 920, 1140, 1920]) {
        await page.setViewportSize({ width, height: 900 });
        for (const cell of [
          page.locator('table.accounts tbody tr').first().locator('[data-label=Runway]'),
          page.locator('table.accounts tbody tr').first().locator('th a'),
        ]) {
          const box = await cell.boundingBox();
          expect(box === null ? Number.NaN : box.x + box.width, `at ${width} px`).toBeLessThanOrEqual(width);
        }
      }
    });
  });

  it.each(['overview', 'alerts', 'pay', 'account', 'account-voip', 'acknowledge'])(
    'unfolds each form of %s next to its button and within the page at every width',
    async (name) => {
      const [, path = ''] = pages.find(([each]) => each === name) ?? [];
      await withPage(bed.scripted, async (page) => {
        await page.goto(bed.server.url + path);
        for (const width of [320, 360, 480, 915, 1280]) {
          await page.setViewportSize({ width, height: 800 });
          const places = await page.evaluate(`[...document.querySelectorAll('details.act')].map((menu) => {
          menu.open = true;
          const { left, right, top } = menu.querySelector('form').getBoundingClientRect();
          const below = top - menu.querySelector('summary').getBoundingClientRect().bottom;
          menu.open = false;
          return { left, right, below };
        })`);
          expect(places).not.toEqual([]);
          for (const { left, right, below } of places as { left: number; right: number; below: number }[]) {
            expect(below, `at ${width} px`).toBeGreaterThan(0);
            expect(below, `at ${width} px`).toBeLessThan(250);
            expect(left, `at ${width} px`).toBeGreaterThanOrEqual(0);
            expect(right, `at ${width} px`).toBeLessThanOrEqual(width);
          }
        }
      });
    },
  );

  it('has letters as large as its reader asks the browser for, and does not scroll sideways for that', async () => {
    await withPage(bed.scripted, async (page) => {
      const session = await page.context().newCDPSession(page);
      const ask = (standard: number) =>
        session.send('Page.setFontSizes', { fontSizes: { standard, fixed: standard } });
      const size = () => page.evaluate('parseFloat(getComputedStyle(document.body).fontSize)');
      await page.goto(bed.server.url);
      const usual = Number(await size());
      await ask(32);
      expect(await size()).toBe(2 * usual);
      for (const width of [wide.width, 320]) {
        await page.setViewportSize({ width, height: 800 });
        for (const [name, path] of pages) {
          await page.goto(bed.server.url + path);
          expect(await widthOf(page), `${name} at ${width} px`).toBeLessThanOrEqual(width);
        }
      }
      await ask(16);
      await session.detach();
    });
  });

  it("shows where the keyboard is on what is chosen too, in the system's colours", async () => {
    await withPage(bed.scripted, async (page) => {
      await page.emulateMedia({ forcedColors: 'active' });
      await page.goto(bed.server.url);
      const outline = () =>
        page.evaluate(`getComputedStyle(document.querySelector('nav [aria-current]')).outline`);
      const before = await outline();
      await page.locator('nav [aria-current]').first().focus();
      expect(await outline()).not.toBe(before);
      await page.emulateMedia({ forcedColors: null });
    });
  });

  it.each(['/silences', '/pay', '/accounts/otp', '/audit'])(
    'leaves no piece of a value below the label of its card on a phone (%s)',
    async (path) => {
      await withPage(bed.scripted, async (page) => {
        await page.setViewportSize(narrow);
        await page.goto(bed.server.url + path);
        const pieces = await page.evaluate(`[...document.querySelectorAll('td[data-label]')]
          .filter((cell) => getComputedStyle(cell).display === 'grid')
          .flatMap((cell) => [...cell.childNodes])
          .filter((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== '' && node.previousSibling !== null)
          .map((node) => node.data)`);
        expect(pieces).toEqual([]);
      });
    },
  );

  it('breaks no word of a tile where what stands next to it is long', async () => {
    await withPage(bed.scripted, async (page) => {
      await page.setViewportSize({ width: 768, height: 900 });
      await page.goto(`${bed.server.url}/accounts/otp`);
      const lines = await page.evaluate(`(() => {
        const [name, value] = ['dt', 'dd'].map((part) => [...document.querySelectorAll('.tile ' + part)].at(-1));
        name.innerHTML = '<code>x-rate-limit-remaining-today</code>';
        value.textContent = 'milliseconds';
        const range = document.createRange();
        range.selectNodeContents(value);
        return range.getClientRects().length;
      })()`);
      expect(lines).toBe(1);
    });
  });

  it('prints of the page Pay what is paid, in colours for paper, and neither what is done on a screen nor the secret address of the calendar', async () => {
    await withPage(bed.scripted, async (page) => {
      await page.goto(`${bed.server.url}/pay`);
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      expect(await page.locator('table.pay').first().isVisible()).toBe(true);
      for (const part of ['.pay .do', '#calendar-heading', '#runs-heading'])
        expect(await page.locator(part).filter({ visible: true }).count(), part).toBe(0);
      const colour = "getComputedStyle(document.documentElement).getPropertyValue('--critical')";
      expect(await page.evaluate(colour)).toBe('#b3201c');
      await page.emulateMedia({ media: null, colorScheme: null });
      await page.goto(`${bed.server.url}/accounts/otp`);
      await page.emulateMedia({ media: 'print' });
      expect(await page.locator('a.button').filter({ visible: true }).count()).toBe(0);
    });
  });

  it("keys of the chart have its colours, in the system's colours too", async () => {
    await withPage(bed.scripted, async (page) => {
      await page.goto(`${bed.server.url}/accounts/otp?range=7d`);
      const looks = () =>
        page.evaluate(`[...document.querySelectorAll('.legend .key')].map((key) => {
          const { backgroundColor, backgroundImage, borderTopColor } = getComputedStyle(key);
          return [key.className, backgroundColor, backgroundImage, borderTopColor];
        })`);
      const before = await looks();
      await page.emulateMedia({ forcedColors: 'active' });
      expect(await looks()).toEqual(before);
      await page.emulateMedia({ forcedColors: null });
    });
  });

  it('leaves room between a table and the words above and below it', async () => {
    await withPage(bed.scripted, async (page) => {
      const gap = (above: string, below: string) =>
        page.evaluate(`(() => {
          const [first, second] = ${JSON.stringify([above, below])}.map((part) => document.querySelector(part).getBoundingClientRect());
          return second.top - first.bottom;
        })()`);
      await page.goto(`${bed.server.url}/messages`);
      expect(await gap('h1', '.scroll')).toBeGreaterThan(4);
      await page.goto(bed.server.url);
      await page.evaluate(
        `document.querySelector('.scroll').insertAdjacentHTML('afterend', '<p class="sums">In one currency</p>')`,
      );
      expect(await gap('.scroll', '.scroll + .sums')).toBeGreaterThan(4);
    });
  });

  it('keeps on paper the proportions of words that stand next to each other', async () => {
    await withPage(bed.scripted, async (page) => {
      await page.goto(bed.server.url);
      const sizes = () =>
        page.evaluate(
          "['.alert-what', '.alert-when', '.taken', 'td', 'td .sub'].map((part) => getComputedStyle(document.querySelector(part)).fontSize)",
        );
      await page.setViewportSize({ width: 1140, height: 900 });
      const onScreen = await sizes();
      await page.emulateMedia({ media: 'print' });
      expect(await sizes()).toEqual(onScreen);
    });
  });

  /** What was seen of a page, once for all the tests of it: loading and axe are what takes the time. */
  function look(name: string): Promise<Observations> {
    const observed = seen.get(name) ?? observe(name);
    seen.set(name, observed);
    return observed;
  }

  function observe(name: string): Promise<Observations> {
    const [, path = ''] = pages.find(([each]) => each === name) ?? [];
    const url = (name === 'sign-in' ? bed.locked : bed.server).url + path;
    return withPage(bed.scripted, async (page, complaints) => {
      const scripted = await observeScripted(page, url, path);
      const heard = [...complaints];
      await page.setViewportSize(narrow);
      await putWithoutScript(page, path);
      return {
        complaints: heard,
        findings: scripted.findings,
        facts: { scripted: scripted.facts, plain: await factsOf(page) },
        tooWide: { scripted: scripted.tooWide, plain: await widthOf(page) },
      };
    });
  }
});

async function observeScripted(page: Page, url: string, path: string) {
  await Promise.all([page.setViewportSize(wide), page.emulateMedia({ colorScheme: 'light' })]);
  await openPage(page, url);
  const facts = await factsOf(page);
  // Run as the browser's own code: the policy of the page holds for the page only.
  await loadAxe(page);
  const findings: string[] = [];
  const tooWide: number[] = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    if ((await widthOf(page)) > width) tooWide.push(width);
    const isBetween = width !== widths.at(0) && width !== widths.at(-1);
    if (isBetween && path !== '/') continue;
    const found = await seriousFindings(page, null);
    findings.push(...found.map((finding) => `${width} px, light: ${finding}`));
    // What differs in the dark are the colours, and those differ only between cards and a table.
    if (isBetween || (width !== widths.at(0) && (await page.locator('table').count()) === 0)) continue;
    await page.emulateMedia({ colorScheme: 'dark' });
    const foundInDark = await seriousFindings(page, ['color-contrast']);
    findings.push(...foundInDark.map((finding) => `${width} px, dark: ${finding}`));
    await page.emulateMedia({ colorScheme: 'light' });
  }
  return { facts, findings, tooWide };
}

/** The words of the page without what only the picture of the chart says in either form. */
function factsOf(page: Page): Promise<string> {
  return page.evaluate(`(() => {
    const main = document.querySelector('main').cloneNode(true);
    main.querySelectorAll('.chart-box').forEach((box) => box.remove());
    return main.textContent.replace(/\\s+/g, ' ').trim();
  })()`) as Promise<string>;
}
