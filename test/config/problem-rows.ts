import { expect } from 'vitest';
import { formatProblem } from '../../src/config/config-problem.ts';
import { load, sample } from './sample.ts';

export type Sample = ReturnType<typeof sample>;

/**
 * What is done to a valid file, and the one problem that must come of it: path, a text of its line, a part of
 * the message.
 */
export type ProblemRow = readonly [
  name: string,
  change: (config: Sample) => void,
  path: string,
  line: string,
  message: string | RegExp,
];

/** Makes the change and expects its one problem; the rows write `hunter2` where a secret stands. */
export function expectProblem([, change, path, line, message]: ProblemRow): void {
  const config = sample();
  change(config);
  const text = JSON.stringify(config, null, 2);
  const result = load(config);
  const problems = result.kind === 'invalid' ? result.problems : [];
  expect(problems.map(formatProblem)).toHaveLength(1);
  expect(problems[0]).toMatchObject({ path, line: findLine(text, line) });
  if (typeof message === 'string') expect(problems[0]?.message).toContain(message);
  else expect(problems[0]?.message).toMatch(message);
  expect(JSON.stringify(problems)).not.toContain('hunter2');
}

export const account = (config: Sample, index = 0): Record<string, unknown> => config.accounts[index] ?? {};
export const rule = (keys: Record<string, unknown>) => (config: Sample) => {
  config.rules = [keys];
};
export const route = (keys: Record<string, unknown>) => (config: Sample) => {
  config.routes = [{ channels: ['ops'], ...keys }];
};
export const silence = (keys: Record<string, unknown>) => (config: Sample) => {
  config.silences = [{ match: { account: 'otp' }, cron: '0 2 * * 0', duration: '2h', ...keys }];
};
export const channel = (keys: Record<string, unknown>) => (config: Sample) => {
  config.channels.ops = keys;
};
export const mail = (keys: Record<string, unknown>) => (config: Sample) => {
  Object.assign(config.channels.finance ?? {}, keys);
};

/** The number of the first line that holds the text; `2:text` asks for the second such line. */
function findLine(text: string, wanted: string): number {
  const [, count = '1', part = wanted] = /^(\d):(.*)$/.exec(wanted) ?? [];
  const lines = text.split('\n').flatMap((line, index) => (line.includes(part) ? [index + 1] : []));
  const found = lines[Number(count) - 1] ?? 0;
  // Something that is missing is looked for where the thing around it begins: an object in a list stands on
  // the next line.
  return wanted.endsWith('": [') ? found + 1 : found;
}
