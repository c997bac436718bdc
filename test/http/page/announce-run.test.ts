import { expect, test } from 'vitest';
import { serveWorld } from '../../support/web-server.ts';
import { read, startWorld } from '../../support/world.ts';

const form = { account: 'otp', amount: '80', from: '2026-11-21T12:00', to: '2026-11-22T12:00', by: 'Lin' };

test('a run that is announced by the form of the page Pay is one though its button was pressed twice, and is shown there, with the form to cancel it', async () => {
  const world = await startWorld({});
  const server = await serveWorld(world);
  const body = new URLSearchParams(form);
  const headers = { origin: server.url };
  const send = () =>
    fetch(`${server.url}/pay/announced`, { method: 'POST', body, headers, redirect: 'manual' });
  for (const answer of await Promise.all([send(), send()]))
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/pay?done=announced']);
  const page = await (await fetch(`${server.url}/pay`)).text();
  expect(page).toContain('80.00 CNY beyond the usual');
  expect(world.views.announced()).toMatchObject([{ account: 'otp', balance: 'sms', announcedBy: 'Lin' }]);
});

test('what is announced or ordered for one balance of several is shown with its name', async () => {
  const world = await startWorld({});
  await read(world, 20);
  const server = await serveWorld(world);
  const post = (path: string, fields: Record<string, string>) => {
    const body = new URLSearchParams({ account: 'otp', balance: 'voip', ...fields });
    return fetch(`${server.url}${path}`, { method: 'POST', body, headers: { origin: server.url } });
  };
  await post('/pay/announced', form);
  await post('/pay/ordered', { amount: '70', arrives: '2026-11-23', by: 'Lin' });
  const page = await (await fetch(`${server.url}/pay`)).text();
  expect(page).toMatch(/otp<\/bdi><\/a> <span class="soft">VoIP<\/span>: 80\.00 CNY beyond the usual/);
  expect(page).toMatch(/otp<\/bdi><\/a> <span class="soft">VoIP<\/span>: 70\.00 CNY expected by/);
});

test('a run begins and ends by the clocks of the page that it was announced on, though another zone was chosen meanwhile', async () => {
  const world = await startWorld({});
  const server = await serveWorld(world);
  const begun = await (await fetch(`${server.url}/pay`)).text();
  const zone = / name="zone" value="([^"]+)"/.exec(begun)?.[1] ?? '';
  const headers = { origin: server.url, cookie: 'lowwater_zone=Asia/Shanghai' };
  const body = new URLSearchParams({ ...form, zone });
  await fetch(`${server.url}/pay/announced`, { method: 'POST', body, headers, redirect: 'manual' });
  expect(world.views.announced()).toMatchObject([{ startsAt: Date.UTC(2026, 10, 21, 12) }]);
});

test.each([
  ['backwards', { to: '2026-11-20T12:00' }],
  ['without a time', { from: '' }],
  ['of nothing', { amount: '' }],
  ['of an account that there is not', { account: 'none' }],
  ['of a balance that there is not', { balance: 'gold' }],
])('a run %s is refused with a sentence, and nothing is announced', async (_, over) => {
  const world = await startWorld({});
  const server = await serveWorld(world);
  const body = new URLSearchParams({ ...form, ...over });
  const headers = { origin: server.url };
  const answer = await fetch(`${server.url}/pay/announced`, {
    method: 'POST',
    body,
    headers,
    redirect: 'manual',
  });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  const page = await answer.text();
  expect(page).toContain('<p class="problem" role="alert">');
  for (const [name, typed] of [...body].filter(([key]) => !['account', 'by'].includes(key)))
    expect(page).toMatch(new RegExp(`name="${name}"[^>]* value="${typed}"`));
  expect(world.views.announced()).toEqual([]);
});

test.each([
  ['es', 'La cuenta "otp" no tiene el saldo "wallet": sms, voip.'],
  ['zh-CN', '账户 "otp" 没有余额 "wallet"：sms, voip。'],
])(
  'a balance that the account lacks is refused with those it has, all of it in %s',
  async (language, words) => {
    const { url } = await serveWorld(await startWorld({}));
    const body = new URLSearchParams({ ...form, balance: 'wallet' });
    const headers = { origin: url, cookie: `lowwater_language=${language}` };
    const answer = await fetch(`${url}/pay/announced`, { method: 'POST', body, headers });
    expect(answer.status).toBe(400);
    expect((await answer.text()).replaceAll('&quot;', '"')).toContain(words);
  },
);
