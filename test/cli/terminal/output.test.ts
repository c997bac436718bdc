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
  expect(openOutput(terminal(columns), () => undefined).columns).toBe(expected);
});

test('a terminal gets lines and colours, and nothing by which an answer of another machine moves its cursor, sets its title, conceals or reorders', async () => {
  const got: string[] = [];
  const stream = Object.assign(terminal(80), { write: (text: string) => got.push(text) > 0 });
  const { write } = openOutput(stream, () => undefined);
  await write('\r\u001b[K\u001b[31mtwo\u001b[39m\n\tlines\n');
  await write('a\u001b]0;title\u0007\u001b[2J\u001b[8mb\u009b1;1H\rlowwater: fine\u202ec\u0000\n');
  await write('gone\r\u001b[Kb\u001b[08mc\u001b[30m\u001b[40md\n');
  await write('\u001b[41mFATAL\u001b[49m\u001b[31m\u001b[41me\u001b[37mf\n');
  expect(got).toEqual([
    '\r\u001b[K\u001b[31mtwo\u001b[39m\n\tlines\n',
    'a]0;title[2J[8mb1;1Hlowwater: finec\n',
    'gone[Kb[08mc[30m[40md\n',
    '\u001b[41mFATAL\u001b[49m\u001b[31m[41me[37mf\n',
  ]);
});
