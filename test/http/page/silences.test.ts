import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hourMs, viewsNow } from '../../support/built-views.ts';
import { startDemoWorld } from '../../support/demo-world.ts';
import { type RunningServer, runServer } from '../../support/web-server.ts';

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
    ['a rule that does not exist', { rule: 'x' }, 'rule'],
    ['everything, not in so many words', {}, 'everything'],
    ['an end before the beginning', { ends: '2026-11-20T10:00' }, 'ends'],
    ['no time at all', { starts: 'soon' }, 'starts'],
  ])('says next to the field what is wrong: %s', async (_what, fields, field) => {
    const answer = await send('/silences', fields);
    expect(answer.status).toBe(400);
    const text = await answer.text();
    expect(text).toContain('<h1>Silences</h1>');
    expect(text).toContain(`id="${field}-problem"`);
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
