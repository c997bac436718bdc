import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Mutation, mutations } from '../test/torture/mutations.ts';
import { copyProduct, writeTestConfig } from './product-copy.ts';

// npm run mutation-check -- [--seeds N] [--only "part of a name"]... [--jobs J]
// Puts one deliberate bug after the other into a copy of the product and lets the simulation run over it. Says which
// seed and which broken promise gave it away. Fails when a bug goes unnoticed, when one can no longer be put in, or
// when the product fails without any.

const { values } = parseArgs({
  options: {
    /** How many seeds a bug may take before it counts as missed. */
    seeds: { type: 'string', default: '1000' },
    only: { type: 'string', multiple: true, default: [''] },
    jobs: { type: 'string', default: String(Math.min(4, availableParallelism())) },
  },
});

/** Most bugs show at once: a few seeds first, then twice as many each time. */
const firstSeeds = 8;

type Useless = 'does not apply' | 'breaks without it';

/** The first seed that failed and what it broke. */
interface Found {
  readonly seed: number;
  readonly rule: string;
}

const mostSeeds = Number(values.seeds);
const chosen = mutations.filter(({ name }) => values.only.some((part) => name.includes(part)));
const copy = copyProduct();
writeTestConfig(copy);
process.exitCode = await check(copy);

async function check(copy: string): Promise<number> {
  let bad = 0;
  let furthest = firstSeeds;
  for (const mutation of chosen) {
    const found = await tryMutation(copy, mutation);
    if (found === null || typeof found === 'string') bad++;
    else furthest = Math.max(furthest, found.seed);
    console.log(`${describe(found)}  ${mutation.name}`);
  }
  // What fails without a bug proves nothing about the bugs, so the product itself has to pass as many seeds.
  const broken = (await findFailing(copy)) ?? (await findFailure(copy, furthest));
  console.log(
    broken === null
      ? `without any of them, seeds 1 to ${furthest} pass, and so do the tests`
      : `without any of them, seed ${broken.seed} breaks: ${broken.rule}`,
  );
  console.log(`${chosen.length - bad} of ${chosen.length} caught`);
  return bad > 0 || broken !== null || chosen.length === 0 ? 1 : 0;
}

/** The first of the tests that must notice a bug, which fails without any. */
async function findFailing(copy: string): Promise<Found | null> {
  for (const test of new Set(chosen.flatMap(({ test = [] }) => test))) {
    const found = await runTest(copy, test);
    if (found !== null) return found;
  }
  return null;
}

async function tryMutation(copy: string, mutation: Mutation): Promise<Found | null | Useless> {
  const path = join(copy, mutation.file);
  const original = readFileSync(path, 'utf8');
  if (original.split(mutation.old).length !== 2) return 'does not apply';
  writeFileSync(
    path,
    original.replace(mutation.old, () => mutation.new),
  );
  const { test, pair } = mutation;
  const found = test === undefined ? await findFailure(copy, mostSeeds, pair) : await runTest(copy, test);
  writeFileSync(path, original);
  if (found === null || pair === undefined) return found;
  const own = await runTorture(copy, { from: found.seed, seeds: 1, pair });
  return own === null ? found : 'breaks without it';
}

async function findFailure(copy: string, seeds: number, pair?: string): Promise<Found | null> {
  for (let from = 1, count = firstSeeds; from <= seeds; from += count, count = from - 1) {
    const found = await runTorture(copy, { from, seeds: Math.min(count, seeds - from + 1), pair });
    if (found !== null) return found;
  }
  return null;
}

/** Whether a test of the copy fails. */
function runTest(copy: string, test: string): Promise<Found | null> {
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', test], { cwd: copy, stdio: 'ignore' });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code === 0 ? null : { seed: 0, rule: test }));
  });
}

function runTorture(
  copy: string,
  it: { readonly from: number; readonly seeds: number; readonly pair?: string | undefined },
): Promise<Found | null> {
  const ofPair = it.pair === undefined ? [] : ['--pair', it.pair];
  const range = ['--from', String(it.from), '--seeds', String(it.seeds), ...ofPair];
  const child = spawn(
    process.execPath,
    ['scripts/torture.ts', ...range, '--jobs', values.jobs, '--no-shrink'],
    { cwd: copy, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      const broke = /^seed (\d+) broke: (.*)$/m.exec(output);
      if (broke !== null) resolve({ seed: Number(broke[1]), rule: broke[2] ?? '' });
      else if (code === 0) resolve(null);
      // A simulation that does not even run has noticed nothing.
      else reject(new Error(`the simulation did not run: ${errors.slice(-2000)}`));
    });
  });
}

function describe(found: Found | null | Useless): string {
  if (found === null) return 'missed';
  if (found === 'breaks without it') return 'the story that broke breaks without it, too:';
  if (found === 'does not apply') return 'the text to replace does not stand exactly once:';
  return `caught  seed ${String(found.seed).padStart(4)}  ${found.rule.padEnd(40)}`;
}
