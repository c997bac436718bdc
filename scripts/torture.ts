import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { allPairs } from '../test/torture/draw-pairs.ts';
import { drawScenario } from '../test/torture/draw-scenario.ts';
import { runSeeds, type SeedResult } from '../test/torture/run-seeds.ts';
import { shrink } from '../test/torture/shrink.ts';
import { simulate } from '../test/torture/simulate.ts';

// npm run torture -- --seeds 1000 [--from N] [--years Y] [--jobs J] [--story] [--pair 'link × over']
// Runs the daemon through simulated time with faults. A failing seed is shrunk and its story printed.

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    years: { type: 'string' },
    /** The pair that is drawn in every story: one of test/torture/draw-pairs.ts. */
    pair: { type: 'string' },
    jobs: { type: 'string', default: String(Math.min(4, availableParallelism())) },
    /** Tells the whole story of each seed, failing or not. */
    story: { type: 'boolean', default: false },
    /** Leaves failing seeds as they are. */
    'no-shrink': { type: 'boolean', default: false },
  },
});

const mostFailures = 5;
const tailLines = 60;
const days = values.years === undefined ? null : Number(values.years) * 365;
const { pair } = values;
if (pair !== undefined && !allPairs.some((each) => each === pair))
  throw new Error(`--pair must be one of: ${allPairs.join('; ')}`);
const draw = (seed: number) => drawScenario(seed, days ?? undefined, pair);

const results: SeedResult[] = [];
const failed: SeedResult[] = [];
await runSeeds(
  {
    ...{ from: Number(values.from), seeds: Number(values.seeds), days, pair: pair ?? null },
    ...{ jobs: Number(values.jobs), mostFailures },
  },
  (result) => {
    results.push(result);
    if (result.violation !== null) failed.push(result);
    if (process.stderr.isTTY) process.stderr.write(`\r${results.length} seeds, ${failed.length} failed `);
  },
);
if (process.stderr.isTTY) process.stderr.write('\r');
printSpeed(results);
for (const result of failed.sort((left, right) => left.seed - right.seed)) await notify(result);
if (values.story) {
  for (const { seed } of results)
    console.log((await simulate(draw(seed), { notified: true })).story.join('\n'));
}
if (failed.length > 0) process.exitCode = 1;

function printSpeed(all: readonly SeedResult[]): void {
  const sum = (of: (result: SeedResult) => number): number => all.reduce((total, it) => total + of(it), 0);
  const years = sum((it) => it.accountDays) / 365;
  const seconds = sum((it) => it.cpuMs) / 1000;
  const counts = (['polls', 'incidents', 'sends', 'kills', 'takeovers'] as const).map(
    (name) => `${sum((it) => it[name])} ${name}`,
  );
  console.log(`${all.length} seeds: ${counts.join(', ')}`);
  console.log(
    `${years.toFixed(1)} account-years in ${seconds.toFixed(1)} CPU seconds: ` +
      `${(years / seconds).toFixed(2)} account-years and ${Math.round(sum((it) => it.polls) / seconds)} polls per CPU second`,
  );
}

async function notify(result: SeedResult): Promise<void> {
  const { seed, violation } = result;
  if (violation === null) return;
  console.log(`\nseed ${seed} broke: ${violation.rule}\n  ${violation.message}`);
  const scenario = draw(seed);
  const small = values['no-shrink'] ? scenario : await shrink(scenario, violation.rule);
  const { story, violation: again } = await simulate(small, { notified: true });
  const { settings, events, weather, channelWeather } = small;
  console.log(
    `the smallest story found: ${small.days} days, ${settings.accounts.length} accounts, ${settings.rules.length} rules, ` +
      `${events.length} events, ${weather.length + channelWeather.length} spells of faults`,
  );
  console.log(
    JSON.stringify({ accounts: settings.accounts, rules: settings.rules, routes: settings.routes }),
  );
  console.log(JSON.stringify({ weather, channelWeather }));
  for (const line of story.slice(-tailLines)) console.log(line);
  console.log(`broken: ${again?.rule}\n  ${again?.message}`);
  const ofPair = pair === undefined ? '' : ` --pair '${pair}'`;
  const ofLength = values.years === undefined ? '' : ` --years ${values.years}`;
  console.log(`again: npm run torture -- --from ${seed} --seeds 1${ofLength}${ofPair}`);
}
