import { describe, expect, it } from 'vitest';
import { belowRule, hourMs, units } from '../../support/account-facts.ts';
import { buildIncident, minuteMs, viewsNow } from '../../support/built-views.ts';
import { FakeViews } from '../../support/fake-views.ts';
import { useMorning } from '../../support/morning.ts';
import { give } from '../../support/orders.ts';
import { runFakeServer } from '../../support/web-server.ts';
import { startWorld, step } from '../../support/world.ts';

const morning = useMorning();

describe('the alerts page', () => {
  it.each([
    ['', ['otp sms-low', 'voice-alerts voip-negative', 'billing auth-failed', 'marketing-eu sms-runway']],
    ['?severity=warning&state=firing', ['otp sms-runway', 'marketing-eu sms-runway']],
    ['?state=pending', ['batch spending']],
    ['?care=acknowledged', ['marketing-eu sms-runway']],
    ['?care=covered', ['otp sms-runway']],
    ['?account=otp&rule=sms-low', ['otp sms-low']],
    ['?severity=nonsense&cursor=', ['otp sms-low', 'batch spending']],
  ])('%s shows what its address asks for', async (query, wanted) => {
    const shown = names(await page(`/alerts${query}`));
    for (const name of wanted) expect(shown).toContain(name);
    if (query !== '' && !query.includes('nonsense')) expect(shown).toHaveLength(wanted.length);
  });

  it('filters by label', async () => {
    expect(names(await page('/alerts?label=team%3Dfinance'))).toEqual(['billing auth-failed']);
    expect(names(await page('/alerts?label=constructor%3Dx'))).toEqual([]);
  });

  it('shows past incidents: how long, how bad, who had them', async () => {
    const text = await page('/alerts?state=past');
    for (const words of ['OTP production', '400.00 CNY topped up', 'Wei', 'Critical'])
      expect(text).toContain(words);
  });

  it('finds a past incident behind thousands of others', async () => {
    const views = new FakeViews();
    const past = (index: number, rule: string) => {
      const firedAt = viewsNow - hourMs - index * minuteMs;
      return buildIncident({ id: `i-${index}`, rule, firedAt, resolvedAt: firedAt + minuteMs });
    };
    views.incidentList = [
      ...Array.from({ length: 2_500 }, (_, index) => past(index, 'sms-low')),
      past(2_500, 'voip-low'),
    ];
    const { url, close } = await runFakeServer({ views });
    const text = await (await fetch(`${url}/alerts?state=past&rule=voip-low`)).text();
    await close();
    expect(text).toContain('<code>voip-low</code>');
  });

  it('shows twenty at a time, and goes on', async () => {
    const accounts = Array.from({ length: 150 }, (_, index) => `a-${String(index).padStart(3, '0')}`);
    const world = await startWorld({ accounts, rules: [belowRule({ thresholds: { critical: units(50) } })] });
    world.provider.fill(42.1);
    await world.pass(2 * step);
    await morning.serve(world);
    const first = await page('/alerts');
    expect(first).toContain('150 alerts, 20 on this page');
    const next = /href="(\/alerts\?cursor=[^"]+)">Next page/.exec(first)?.[1] ?? '';
    expect(new Set([...names(first), ...names(await page(next))]).size).toBe(40);
  });

  it('acknowledges what is ticked, and only that', async () => {
    await morning.change();
    await send('/alerts/many', [
      ['alert', 'otp/sms-low'],
      ['alert', 'voice-alerts/voip-negative'],
      ['do', 'acknowledge'],
      ['by', 'Lin'],
    ]);
    // The runway of the same balance comes along.
    expect(await acknowledged()).toEqual(['otp sms-low', 'otp sms-runway', 'voice-alerts voip-negative']);
  });

  it('acknowledges all that the filters select, when asked for all', async () => {
    await morning.change();
    await give(morning.server.world.views, {
      kind: 'unacknowledge',
      account: 'marketing-eu',
      rule: 'sms-runway',
    });
    const location = await send('/alerts/many', [
      ['all', 'yes'],
      ['query', '/alerts?severity=warning&state=firing'],
      ['do', 'acknowledge'],
      ['by', 'Lin'],
      ['back', '/alerts?severity=warning&state=firing'],
    ]);
    expect(await acknowledged()).toEqual(['marketing-eu sms-runway', 'otp sms-low', 'otp sms-runway']);
    expect(location).toBe('/alerts?severity=warning&state=firing&done=acknowledged-many');
  });

  it('says to the second of two people that somebody had acknowledged all of them, and changes nothing', async () => {
    await morning.change();
    const acknowledge = (by: string) =>
      send('/alerts/many', [
        ['alert', 'otp/sms-low'],
        ['alert', 'otp/sms-runway'],
        ['do', 'acknowledge'],
        ['by', by],
      ]);
    expect(await acknowledge('Lin')).toContain('done=acknowledged-many');
    expect(await acknowledge('Ada')).toContain('done=held-many');
    expect((await morning.server.world.views.alert('otp', 'sms-low'))?.acknowledged?.by).toBe('Lin');
  });

  it('silences each of what is ticked for the time chosen', async () => {
    await morning.change();
    await send('/alerts/many', [
      ['alert', 'otp/sms-low'],
      ['do', 'silence'],
      ['for', '4h'],
      ['by', 'Lin'],
    ]);
    expect(ordered()).toMatchObject([
      {
        match: { account: ['otp'], rule: ['sms-low'] },
        by: 'Lin',
        startsAt: viewsNow,
        endsAt: viewsNow + 4 * hourMs,
      },
    ]);
  });

  it('does nothing where nothing is ticked, and says so', async () => {
    expect(await send('/alerts/many', [['do', 'acknowledge']])).toContain('done=none');
    expect(await acknowledged()).toEqual([]);
    expect(ordered()).toEqual([]);
  });

  it.each(['acknowledge', 'unacknowledge'])(
    '%s of alerts that are all over or nobody’s says so, not that it is done',
    async (act) => {
      await morning.change();
      const form = new URLSearchParams({ alert: 'otp/over', do: act, by: 'Lin' });
      if (act === 'unacknowledge') form.append('alert', 'otp/sms-low');
      const answer = await fetch(`${morning.server.url}/alerts/many`, { method: 'POST', body: form });
      expect(answer.status).toBe(404);
      expect(await answer.text()).toContain('no incident of rule');
    },
  );

  it('gives an acknowledged alert back', async () => {
    await morning.change();
    expect((await morning.server.world.views.alert('marketing-eu', 'sms-runway'))?.acknowledged?.by).toBe(
      'Priya',
    );
    await send('/alerts/marketing-eu/sms-runway/unacknowledge', []);
    expect((await morning.server.world.views.alert('marketing-eu', 'sms-runway'))?.acknowledged).toBeNull();
  });
});

describe('a silence ordered on the page', () => {
  it('of everything is asked for in so many words', async () => {
    await morning.change();
    await send('/silences', [
      ['everything', 'yes'],
      ['confirmed', 'yes'],
      ['for', '2h'],
      ['by', 'Lin'],
    ]);
    expect(ordered()).toMatchObject([{ match: {}, endsAt: viewsNow + 2 * hourMs }]);
    expect((await morning.server.world.views.alert('otp', 'sms-low'))?.silenced).toBe(true);
  });

  it('by a label is chosen from those that exist', async () => {
    await morning.change();
    expect(await page('/silences')).toContain('<option value="team=identity">');
    await send('/silences', [
      ['label', 'team=identity'],
      ['confirmed', 'yes'],
      ['for', '2h'],
      ['by', 'Lin'],
    ]);
    expect(ordered()).toMatchObject([{ match: { labels: { team: ['identity'] } } }]);
  });

  it('by a label that would be lost on the way is refused, for it would mute the whole account', async () => {
    const response = await fetch(`${morning.server.url}/silences`, {
      method: 'POST',
      body: new URLSearchParams({ account: 'otp', label: '__proto__=x', for: '2h', by: 'Lin' }),
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('match.labels.__proto__: no label can have this name');
    expect(ordered()).toEqual([]);
  });

  it('that is refused comes back with the reason next to what was filled in', async () => {
    const response = await fetch(`${morning.server.url}/silences`, {
      method: 'POST',
      body: new URLSearchParams({ account: 'otp', rule: 'sms-lo', for: '2h', by: 'Lin', back: '/silences' }),
    });
    expect(response.status).toBe(400);
    const text = await response.text();
    expect(text).toContain('did you mean &quot;sms-low&quot;?');
    expect(text).toContain('<option value="otp" selected>');
  });
});

async function page(path: string): Promise<string> {
  const response = await fetch(morning.server.url + path.replaceAll('&amp;', '&'), {
    headers: { accept: 'text/html' },
  });
  expect(response.status).toBe(200);
  return response.text();
}

/** The alerts that a page offers for ticking. */
function names(text: string): string[] {
  return [...text.matchAll(/name="alert" value="([^"/]+\/[^"/]+)[^"]*"/g)].map(([, name = '']) =>
    name.replace('/', ' '),
  );
}

async function send(path: string, fields: [string, string][]): Promise<string | null> {
  const response = await fetch(morning.server.url + path, {
    method: 'POST',
    body: new URLSearchParams(fields),
    redirect: 'manual',
  });
  expect(response.status).toBe(303);
  return response.headers.get('location');
}

/** The alerts that Lin has acknowledged. */
async function acknowledged(): Promise<string[]> {
  const alerts = await morning.server.world.views.alerts({ all: false });
  return alerts.flatMap(({ account, rule, acknowledged }) =>
    acknowledged?.by === 'Lin' ? [`${account} ${rule}`] : [],
  );
}

/** The silences that were ordered since the morning. */
function ordered() {
  return morning.server.world.views
    .silences()
    .filter(({ by, comment }) => by !== 'configuration' && comment !== 'load test until 22:00');
}
