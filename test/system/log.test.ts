import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/system/log.ts';
import { anyCharacter } from '../support/hostile-text.ts';

function record(secrets: readonly string[] = [], pretty = false) {
  const lines: string[] = [];
  const log = createLog({
    level: 'info',
    destination: { write: (line) => lines.push(line) },
    pretty,
  });
  log.addSecrets(secrets);
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? 'null') };
}

const secret = 's3cret/Key+with "quotes" & ümlaut?';

describe('the log', () => {
  it('writes one JSON line an event with ISO time, the level as text and the message', () => {
    const { log, lines, last } = record();
    log.info({ account: 'otp' }, 'polled');
    expect(lines[0]).toMatch(/^\{.*\}\n$/);
    expect(last()).toMatchObject({ level: 'info', account: 'otp', msg: 'polled' });
    expect(last().time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(last()).not.toHaveProperty('pid');
  });

  it('keeps to its level, also when that changes', () => {
    const { log, lines } = record();
    log.debug({}, 'quiet');
    log.setLevel('debug');
    log.debug({}, 'heard');
    expect(lines).toHaveLength(1);
  });

  it('gives an error under err with its message, stack and cause', () => {
    const { log, last } = record();
    log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'failed');
    expect(last().err.message).toBe('outer: inner');
    expect(last().err.stack).toContain('log.test.ts');
  });

  it('never lets a field overwrite time, level or message', () => {
    const { log, lines, last } = record();
    log.warn({ level: 'info', msg: 'all is well', time: 0 }, 'the disk is full');
    expect(last()).toMatchObject({ level: 'warn', msg: 'the disk is full', fields: { msg: 'all is well' } });
    expect(lines[0]?.match(/"level"/g)).toHaveLength(2);
  });

  it('prints for people without losing the fields', () => {
    const { log, lines } = record([], true);
    log.info({ account: 'otp' }, 'polled');
    expect(lines[0]).toContain('polled');
    expect(lines[0]).toContain('otp');
    expect(lines[0]).not.toContain('{"level"');
  });
});

describe('a log whose lines are not taken', () => {
  it('counts them, and says how many are missing before the first that is taken again', () => {
    const lines: string[] = [];
    let open = true;
    const destination = { write: (line: string) => open && lines.push(line) };
    const log = createLog({ level: 'info', destination, pretty: false });
    log.info({}, 'first');
    open = false;
    log.info({}, 'second');
    log.error({}, 'third');
    expect(log.dropped).toBe(2);
    open = true;
    log.info({}, 'fourth');
    log.info({}, 'fifth');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { msg: 'first' },
      { level: 'warn', dropped: 2, msg: 'lines of the log could not be written' },
      { msg: 'fourth' },
      { msg: 'fifth' },
    ]);
    expect(log.dropped).toBe(2);
  });
});

describe('secrets in the log', () => {
  it.each([
    ['in the message', (log: ReturnType<typeof record>['log']) => log.info({}, `key ${secret} refused`)],
    ['in a field', (log: ReturnType<typeof record>['log']) => log.info({ deep: { er: [secret] } }, 'x')],
    ['in a field name', (log: ReturnType<typeof record>['log']) => log.info({ [secret]: 1 }, 'x')],
    [
      'in a body kept as text',
      (log: ReturnType<typeof record>['log']) => log.info({ body: JSON.stringify({ secret }) }, 'x'),
    ],
    [
      'in an address',
      (log: ReturnType<typeof record>['log']) =>
        log.info({ url: `https://u:${encodeURIComponent(secret)}@host/` }, 'x'),
    ],
    [
      'in a form',
      (log: ReturnType<typeof record>['log']) =>
        log.info({ form: new URLSearchParams({ secret }).toString() }, 'x'),
    ],
    [
      'in basic authentication',
      (log: ReturnType<typeof record>['log']) =>
        log.info({ auth: Buffer.from(`user:${secret}`).toString('base64') }, 'x'),
    ],
    [
      'in an error',
      (log: ReturnType<typeof record>['log']) => log.error({ err: new Error(`bad ${secret}`) }, 'x'),
    ],
    [
      'in the cause of an error',
      (log: ReturnType<typeof record>['log']) =>
        log.error({ err: new Error('a', { cause: new Error(secret) }) }, 'x'),
    ],
  ])('are hidden %s', (_name, write) => {
    const { log, lines, last } = record([secret]);
    write(log);
    const line = lines.join('');
    for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), 's3cret']) {
      expect(line).not.toContain(form);
    }
    expect(line).not.toContain(Buffer.from(secret).toString('base64').slice(4, 20));
    expect(line).toContain('[secret]');
    expect(() => last()).not.toThrow();
  });

  it('are hidden from the moment they are known, also on a terminal', () => {
    const { log, lines } = record([], true);
    log.addSecrets([secret]);
    log.info({ secret }, `the key is ${secret}`);
    expect(lines.join('')).not.toContain('s3cret');
  });

  it('a number that is a secret leaves a line that is still JSON', () => {
    const { log, last } = record(['12345678']);
    log.info({ pin: 12345678, other: 1 }, 'x');
    expect(last()).toMatchObject({ pin: '[secret]', other: 1 });
  });

  it.each(['info', 'time', 'level', '2026', 'true', 'null'])(
    'that are a word of the log itself, such as %s, leave level, time and JSON',
    (word) => {
      const { log, last } = record([word]);
      log.info({ reason: `it says ${word}`, known: true, url: null }, 'polled');
      expect(last()).toMatchObject({ level: 'info', reason: 'it says [secret]', msg: 'polled' });
      expect(Date.parse(last().time)).toBeGreaterThan(0);
    },
  );

  it('no value is ever found in a line, no matter what stands around it, and the line stays JSON', () => {
    const value = fc
      .string({ minLength: 6, maxLength: 40, unit: anyCharacter })
      .filter((text) => !'[secret]'.includes(text));
    fc.assert(
      fc.property(value, fc.string({ unit: anyCharacter }), fc.string(), (hidden, before, after) => {
        const { log, lines, last } = record([hidden]);
        const text = before + hidden + after;
        log.error(
          { text, nested: JSON.stringify({ text }), b64: Buffer.from(text).toString('base64') },
          text,
        );
        const { time, level, ...rest } = last();
        const decoded = Buffer.from(String(rest.b64), 'base64').toString();
        expect(time).toBeTypeOf('string');
        expect(level).toBe('error');
        if (!'error'.includes(hidden)) {
          expect(rest.text).not.toContain(hidden);
          expect(rest.nested).not.toContain(JSON.stringify(hidden).slice(1, -1));
          expect(rest.msg).not.toContain(hidden);
          if (hidden.isWellFormed()) expect(decoded).not.toContain(hidden);
        }
        expect(lines).toHaveLength(1);
      }),
      { numRuns: 150 },
    );
  });
});
