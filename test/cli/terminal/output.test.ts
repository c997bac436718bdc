import { WriteStream } from 'node:tty';
import { expect, test } from 'vitest';
import { openOutput } from '../../../src/cli/terminal/output.ts';

/** A terminal that says of itself to be so wide. */
function terminal(columns: number | undefined): WriteStream {
  const stream: WriteStream = Object.create(WriteStream.prototype);
  return Object.assign(stream, { isTTY: true, columns, on: () => stream });
}

test.each([
  ['says its width', 120, 120],
  ['has no size yet, as under docker exec -t', 0, 80],
  ['does not know its width', undefined, 80],
])('a terminal that %s', (_, columns, expected) => {
  expect(openOutput(terminal(columns), {}, () => undefined).columns).toBe(expected);
});
