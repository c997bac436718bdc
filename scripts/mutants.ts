import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { copyProduct, writeTestConfig } from './product-copy.ts';

// npm run mutants -- [--only "part of a path"]... [--jobs J]
// Changes one operator, text or branch after the other in files whose mistakes cost most, and runs the tests beside them. Prints what no
// test noticed, for a person to judge: some of it changes nothing. Fails where a file is noticed in less than nine of ten.
// What a person can think of as a bug, and what only the simulation notices, is in `npm run mutation-check`.

/** Stryker is 177 packages, and needed here alone: it is fetched into the copy. */
const stryker = ['@stryker-mutator/core@10', '@stryker-mutator/vitest-runner@10'];
const enough = 0.9;

/** Core files, each with the tests that are to notice. Short ones: the rest of the tests would take hours. */
const core: Readonly<Record<string, readonly string[]>> = {
  'src/domain/money.ts': [
    'test/domain/money.test.ts',
    'test/domain/currency.test.ts',
    'test/wording/units.test.ts',
  ],
  'src/domain/backoff.ts': [
    'test/domain/backoff.test.ts',
    'test/domain/first-polls.test.ts',
    'test/domain/retry-after.test.ts',
  ],
  'src/engine/transition.ts': ['test/engine/transition.test.ts', 'test/engine/elapse.test.ts'],
  'src/engine/decide.ts': ['test/engine/decide*.test.ts', 'test/engine/plan-channels.test.ts'],
  'src/engine/due-queue.ts': ['test/engine/due-queue.test.ts'],
  'src/rules/ladder.ts': ['test/rules/**/*.test.ts'],
  'src/daemon/rate-guard.ts': [
    'test/daemon/rate-guard.test.ts',
    'test/daemon/request-guard.test.ts',
    'test/daemon/owns.test.ts',
  ],
  'src/cluster/judge-look.ts': ['test/cluster/judge-look.test.ts'],
  'src/providers/http-json/json-path.ts': ['test/providers/http-json/*.test.ts'],
};

/** Of Stryker's report, as far as it is read here. */
interface Mutant {
  readonly status: string;
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly location: { readonly start: { readonly line: number } };
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [''] },
    jobs: { type: 'string', default: '2' },
  },
});

const folder = copyProduct();
await run('npm', ['install', '--no-save', '--no-package-lock', '--prefix', join(folder, 'tool'), ...stryker]);
const chosen = Object.entries(core).filter(([path]) => values.only.some((part) => path.includes(part)));
let unnoticed = chosen.length === 0;
for (const [path, tests] of chosen) {
  const mutants = await mutantsOf(path, tests);
  const missed = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  const share = 1 - missed.length / mutants.length;
  unnoticed ||= !(share >= enough);
  console.log(`${path}: ${mutants.length - missed.length} of ${mutants.length} noticed`);
  for (const { mutatorName, replacement = '', location } of missed)
    console.log(
      `  line ${location.start.line}  ${mutatorName}: ${replacement.replace(/\s+/g, ' ').slice(0, 90)}`,
    );
}
process.exitCode = unnoticed ? 1 : 0;

/** All changes of one file that make a program, with what came of each. */
async function mutantsOf(path: string, tests: readonly string[]): Promise<readonly Mutant[]> {
  writeTestConfig(folder, tests);
  const report = join(folder, 'report.json');
  const options = {
    testRunner: 'vitest',
    plugins: [join(folder, 'tool/node_modules/@stryker-mutator/vitest-runner/dist/src/index.js')],
    mutate: [path],
    // The compiler of today is not the one that Stryker reads the file with.
    tsconfigFile: 'none.json',
    inPlace: true,
    concurrency: Number(values.jobs),
    reporters: ['json'],
    jsonReporter: { fileName: report },
  };
  writeFileSync(join(folder, 'stryker.config.json'), JSON.stringify(options));
  await run(process.execPath, [
    join(folder, 'tool/node_modules/@stryker-mutator/core/bin/stryker.js'),
    'run',
  ]);
  const { files } = JSON.parse(readFileSync(report, 'utf8')) as {
    files: Record<string, { mutants: Mutant[] }>;
  };
  return (files[path]?.mutants ?? []).filter(
    ({ status }) => status !== 'CompileError' && status !== 'RuntimeError',
  );
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4000);
    });
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  if (code !== 0) throw new Error(`${command} ${args[0] ?? ''} ended with ${code}:\n${said}`);
}
