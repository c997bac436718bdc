import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildAccountView, dayMs, hourMs, viewsNow } from '../../support/built-views.ts';
import { startDemoWorld } from '../../support/demo-world.ts';
import { FakeViews } from '../../support/fake-views.ts';
import { type RunningServer, runFakeServer, runServer } from '../../support/web-server.ts';

let server: RunningServer;

beforeEach(async () => {
  server = await runServer({ world: await startDemoWorld() });
});

afterEach(() => server.close());

async function send(path: string, fields: Readonly<Record<string, string>>, cookie = ''): Promise<Response> {
  return fetch(server.url + path, {
    method: 'POST',
    headers: { accept: 'text/html', origin: server.url, cookie },
    body: new URLSearchParams({ by: 'Lin', back: '/silences', for: '2h', ...fields }),
    redirect: 'manual',
  });
}

/** The silences that were ordered since the morning. */
function ordered() {
  return server.world.views
    .silences()
    .filter(({ by, comment }) => by !== 'configuration' && comment !== 'load test until 22:00');
}

describe('the silences page', () => {
  it('asks before it mutes, and names what would fall silent', async () => {
    const answer = await send('/silences', { account: 'otp' });
    expect(answer.status).toBe(200);
    const text = await answer.text();
    expect(text).toContain('Silence account otp?');
    expect(text).toMatch(/pay [\d,]+ CNY/);
    expect(text).toContain('It is about 1 account');
    expect(ordered()).toEqual([]);
  });

  it('takes times in the zone of the page that asked for them, though another was chosen meanwhile', async () => {
    const cookie = 'lowwater_zone=Asia/Shanghai';
    const begun = await (await fetch(`${server.url}/silences`)).text();
    const zone = / name="zone" value="([^"]+)"/.exec(begun)?.[1] ?? '';
    const times = { zone, starts: '2026-11-20T20:00', ends: '2026-11-20T22:30' };
    const again = await (await send('/silences', { account: 'nobody', ...times }, cookie)).text();
    expect(again).toContain('Begins, UTC (empty: now)');
    expect(again).toContain('name="zone" value="UTC"');
    await send('/silences', { account: 'otp', ...times, confirmed: 'yes' }, cookie);
    expect(ordered()).toMatchObject([{ startsAt: Date.UTC(2026, 10, 20, 20) }]);
  });

  it.each([
    ['that begins now', {}],
    ['that begins later', { starts: '2026-11-20T20:00', ends: '2026-11-20T22:30' }],
  ])('makes one silence %s of a button that was pressed twice', async (_, times) => {
    const confirm = () => send('/silences', { account: 'otp', ...times, confirmed: 'yes' });
    for (const { status } of await Promise.all([confirm(), confirm()])) expect(status).toBe(303);
    expect(ordered()).toHaveLength(1);
  });

  it('mutes what was confirmed, from and until what was given', async () => {
    const answer = await send('/silences', {
      account: 'otp',
      starts: '2026-11-20T20:00',
      ends: '2026-11-20T22:30',
      confirmed: 'yes',
    });
    expect(answer.status).toBe(303);
    const startsAt = Date.UTC(2026, 10, 20, 20);
    expect(ordered()).toMatchObject([
      {
        match: { account: ['otp'] },
        startsAt,
        endsAt: startsAt + 2.5 * hourMs,
        by: 'Lin',
        comment: '',
      },
    ]);
  });

  it.each([
    ['a rule that does not exist', { rule: 'x' }, 'rule', 'There is no rule &quot;x&quot;.'],
    ['everything, not in so many words', {}, 'everything', 'This would mute every alert'],
    [
      'an end before the beginning',
      { ends: '2026-11-20T10:00' },
      'ends',
      'A silence must end after it starts.',
    ],
    ['no time at all', { starts: 'soon' }, 'starts', ''],
  ])('says next to the field, in a sentence, what is wrong: %s', async (_what, fields, field, problem) => {
    const answer = await send('/silences', fields);
    expect(answer.status).toBe(400);
    const text = await answer.text();
    expect(text).toContain('<h1>Silences</h1>');
    expect(text).toContain(`id="${field}-problem">${problem}`);
    expect(text).toContain('value="Lin"');
  });

  it('gives back what was filled in when somebody wants to change it', async () => {
    const text = await (await send('/silences', { account: 'otp', comment: 'works', change: 'yes' })).text();
    expect(text).toContain('<option value="otp" selected>');
    expect(text).toContain('value="works"');
    expect(ordered()).toEqual([]);
  });

  it('lets a silence last longer by one click', async () => {
    const batch = () => server.world.views.silences().find(({ match }) => match.account?.[0] === 'batch');
    const endsAt = viewsNow + 3 * hourMs;
    expect(batch()?.endsAt).toBe(endsAt);
    expect((await send(`/silences/${batch()?.id}/extend`, {})).status).toBe(303);
    expect(batch()?.endsAt).toBe(endsAt + 2 * hourMs);
  });

  it('lets a silence last longer once, where its button is pressed twice', async () => {
    const extending = () =>
      fetch(`${server.url}/silences`, { headers: { accept: 'text/html' } })
        .then((answer) => answer.text())
        .then(
          (text) => /action="(\/silences\/[^"]+\/extend)">.*?name="seen-ends" value="(\d+)"/.exec(text) ?? [],
        );
    const [, path = '', endsAt = ''] = await extending();
    const press = () => send(path, { 'seen-ends': endsAt });
    expect([(await press()).status, (await press()).status]).toEqual([303, 409]);
    expect((await extending())[2]).toBe(`${Number(endsAt) + 2 * hourMs}`);
  });

  it('lists silences that come back with their next runs', async () => {
    const text = await (await fetch(`${server.url}/silences`, { headers: { accept: 'text/html' } })).text();
    expect(text).toContain('from the configuration');
    expect(text.match(/<span class="sub">then (.*?)<\/span>/)?.[1]?.match(/<time/g)).toHaveLength(3);
  });
});

describe('hundreds of silences', () => {
  /** Those of `otp`, in the order in which views have them, and one of another account between. */
  function silences(active: number, planned: number) {
    const views = new FakeViews();
    views.accountList = ['otp', 'other'].map((id) => buildAccountView({ id, name: id }));
    const one = (startsAt: number, id: string, account = 'otp') => ({
      id,
      match: { account: [account], rule: [id] },
      startsAt,
      endsAt: viewsNow + 400 * dayMs,
      by: 'Lin',
      comment: '',
      active: startsAt <= viewsNow,
      laterStarts: [],
    });
    views.silenceList = [
      ...Array.from({ length: active }, (_, index) => one(viewsNow - dayMs, `active-${index}`)),
      one(viewsNow, 'of-another', 'other'),
      ...Array.from({ length: planned }, (_, index) =>
        one(viewsNow + (index + 1) * hourMs, `later-${index}`),
      ),
    ];
    return views;
  }

  async function withPages(
    views: FakeViews,
    use: (read: (path: string) => Promise<string>) => Promise<void>,
  ): Promise<void> {
    const { url, close } = await runFakeServer({ views });
    const read = async (path: string) =>
      (await fetch(url + path, { headers: { accept: 'text/html' } })).text();
    await use(read).finally(close);
  }

  const rows = (page: string, of: string) =>
    page.match(new RegExp(`<th scope="row">[^<]*rule ${of}`, 'g'))?.length ?? 0;

  it('an account shows all that are in force and the next ten that are planned, and counts the others', () =>
    withPages(silences(40, 60), async (read) => {
      const page = await read('/accounts/otp');
      expect([rows(page, 'active-'), rows(page, 'later-'), rows(page, 'of-another')]).toEqual([40, 10, 0]);
      expect(page).toContain('<a href="/silences?account=otp">and 50 more: 0 active, 50 planned</a>');
      expect(page.indexOf('rule active-39')).toBeLessThan(page.indexOf('rule later-0'));
    }));

  it('of more in force than a page holds, an account counts those that it does not show', () =>
    withPages(silences(300, 5), async (read) => {
      expect(await read('/accounts/otp')).toContain('and 195 more: 190 active, 5 planned');
    }));

  it('an account that has few counts nothing', () =>
    withPages(silences(2, 3), async (read) => {
      const page = await read('/accounts/otp');
      expect([rows(page, 'active-'), rows(page, 'later-')]).toEqual([2, 3]);
      expect(page).not.toContain('/silences?account=otp');
    }));

  it('of an account that there is not are none, rather than all', () =>
    withPages(silences(2, 0), async (read) => {
      const page = await read('/silences?account=otq');
      expect(page).toContain('There is no account of that id.');
      expect(rows(page, '')).toBe(0);
    }));

  it('of one match have buttons that differ by name', () => {
    const views = silences(2, 0);
    const [first] = views.silenceList;
    views.silenceList = [0, 1].flatMap((hours) =>
      first === undefined ? [] : [{ ...first, id: `of-${hours}`, endsAt: first.endsAt + hours * hourMs }],
    );
    return withPages(views, async (read) => {
      const page = await read('/silences?account=otp');
      const names = [...page.matchAll(/<td[^>]*>.*?<button class="quiet">(.*?)<\/button>/g)].map(
        ([, name]) => name,
      );
      expect(names).toHaveLength(2);
      expect(new Set(names).size).toBe(2);
    });
  });

  it('stand on the first page where those of the last one are over, and none says that nothing is silenced', () => {
    const views = silences(120, 0);
    return withPages(views, async (read) => {
      const next = /href="([^"]*)">Next page/.exec(await read('/silences'))?.[1] ?? '';
      views.silenceList = views.silenceList.slice(0, 100);
      const page = await read(next);
      expect(rows(page, 'active-')).toBe(100);
      expect(page).not.toContain('Nothing is silenced');
    });
  });

  it('stand on pages of a hundred, all or those of an account, each on one of them', () =>
    withPages(silences(150, 80), async (read) => {
      for (const [path, count] of [
        ['/silences', 231],
        ['/silences?account=otp', 230],
      ] as const) {
        const seen = new Set<string>();
        let [next, pages]: [string | undefined, number] = [path, 0];
        while (next !== undefined) {
          const page: string = await read(next);
          expect(rows(page, '')).toBeLessThanOrEqual(100);
          for (const [row] of page.matchAll(/<th scope="row">.*?<\/th>/g)) seen.add(row);
          // The forms of a row lead back to the page that it stands on.
          expect(page).toContain(`name="back" value="${next.replaceAll('&', '&amp;')}"`);
          next = /href="([^"]*)">Next page/.exec(page)?.[1]?.replaceAll('&amp;', '&');
          pages += 1;
        }
        expect([seen.size, pages]).toEqual([count, 3]);
      }
    }));
});
