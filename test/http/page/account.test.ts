import { expect, it } from 'vitest';
import { buildAccountView, buildAlertView, buildRunway, viewsNow } from '../../support/built-views.ts';
import { demoViews } from '../../support/demo-views.ts';
import { FakeViews } from '../../support/fake-views.ts';
import { runFakeServer } from '../../support/web-server.ts';

/** The section of the rules of an account's page, with so many rules that fire, of which the last is critical. */
async function rulesOf(count: number): Promise<string> {
  const views = demoViews();
  const like = views.explanations.get('otp')?.find(({ alert }) => alert !== null);
  if (like === undefined) throw new Error('the demo has a rule that fires');
  const explanations = Array.from({ length: count }, (_, index) => {
    const rule = `rule-${index}`;
    const severity = index === count - 1 ? 'critical' : 'warning';
    return { ...like, rule: { ...like.rule, id: rule }, alert: buildAlertView({ rule, severity }) };
  });
  views.explanations.set('otp', explanations);
  const { url, close } = await runFakeServer({ views });
  const page = await (await fetch(`${url}/accounts/otp`, { headers: { accept: 'text/html' } })).text();
  await close();
  return /<section aria-labelledby="rules-heading">.*?<\/section>/s.exec(page)?.[0] ?? '';
}

const rowsOf = (text: string): readonly string[] => text.match(/<code>rule-\d+<\/code>/g) ?? [];

it('an account shows the twenty worst of its rules that fire, and folds the others with their number', async () => {
  const [shown = '', folded = ''] = (await rulesOf(60)).split('<summary>40 more rules</summary>');
  expect(rowsOf(shown)).toHaveLength(20);
  expect(rowsOf(shown)[0]).toBe('<code>rule-59</code>');
  expect(rowsOf(folded)).toHaveLength(40);
});

it('an account with twenty rules that fire shows them in the order of the configuration', async () => {
  const rules = await rulesOf(20);
  expect(rules).not.toContain('more rule');
  expect(rowsOf(rules)).toEqual(Array.from({ length: 20 }, (_, index) => `<code>rule-${index}</code>`));
});

it.each([
  [0, 0],
  [1, 1],
])('a balance that lasts %i ms names %i bases of a forecast', async (runwayMs, bases) => {
  const views = new FakeViews();
  const at = viewsNow + runwayMs;
  const forecast = { emptyAt: at, earliest: at, latest: at, basis: 'mean-burn' } as const;
  views.accountList = [
    buildAccountView({ runways: { sms: buildRunway({ runwayMs, emptyAt: at, forecast }), voip: null } }),
  ];
  const { url, close } = await runFakeServer({ views });
  const page = await (await fetch(`${url}/accounts/otp`, { headers: { accept: 'text/html' } })).text();
  await close();
  expect(page.match(/Forecast from/g)?.length ?? 0).toBe(bases);
});
