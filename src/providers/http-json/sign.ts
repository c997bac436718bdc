import { createHash, createHmac } from 'node:crypto';
import * as z from 'zod';
import { hourMs } from '../../domain/time.ts';
import { choice, filledList, flag, shape, wholeNumber } from '../../schema/shapes.ts';
import { textLeaf } from '../../schema/texts.ts';
import type { Attempt } from '../kind.ts';
import { template } from './request-description.ts';

const timeForm = /^(?:unix|millis|http|(?:YYYY|MM|DD|HH|mm|ss|[-:/.TZ ])+)$/;

const timeStep = shape({
  time: textLeaf({
    description:
      'The time of the attempt: `unix` (seconds), `millis`, `http` (as a Date header), or a form of YYYY MM DD HH mm ss such as "YYYYMMDDTHHmmssZ".',
    allowed: 'must be "unix", "millis", "http" or a form of YYYY MM DD HH mm ss',
    read: (text) => (timeForm.test(text) ? { value: text } : null),
  }),
  utcOffset: wholeNumber('Hours ahead of UTC, for a form: 8 in China.', { min: -12, max: 14 }).default(0),
});

const encodings = ['hex', 'HEX', 'base64', 'base64-of-hex'] as const;
const encoding = choice('How the result is written.', encodings).default('hex');
const algorithms = ['md5', 'sha1', 'sha256', 'sha512'] as const;
const what = 'A text that may hold {{request.method}} and other parts of the request, and earlier steps.';

const keyForm = 'must be a string or a list of strings';

const step = z.union(
  [
    timeStep,
    shape({ nonce: wholeNumber('A random text of so many hexadecimal digits.', { min: 8, max: 64 }) }),
    shape({ text: template(what) }),
    shape({ hash: choice('Hash function.', algorithms), of: template(what), as: encoding }),
    shape({
      hmac: choice('Hash function of the HMAC.', algorithms),
      key: z
        .union([template('The key.'), filledList('Parts of the key.', template('A part.'), keyForm)], {
          error: keyForm,
        })
        .describe('The key; of a list, each further text is signed by what came before, as bytes.'),
      of: template(what),
      as: encoding,
    }),
    shape({
      headers: filledList(
        'Headers to sign by name, also `host`: a line `name:value` for each, sorted. Their names, joined by `;`, are {{sign.step.names}}.',
        z.string().regex(/^[a-z\d-]+$/, { error: 'must be a name of a header in lower case' }),
        'must be a list of names',
      ),
      lowerCase: flag('Whether values are signed in lower case.').default(false),
    }),
  ],
  {
    error:
      'must be a step with "time", "nonce", "text", "hash" and "of", "hmac", "key" and "of", or "headers"',
  },
);

export const signSchema = z
  .record(z.string().regex(/^[a-zA-Z][\w-]{0,62}$/), step, { error: 'must be an object of steps by name' })
  .describe(
    'What is computed for each attempt, step by step: each may use those before it, and the request may hold {{sign.step}}. A part of the request that holds a step is signed only by later steps.',
  );

export type Signing = z.output<typeof signSchema>;
export type Step = Signing[string];

/** The parts of the request that are known when a step is computed. */
export interface SignedParts {
  readonly fill: (text: string) => string;
  readonly header: (name: string) => string;
  readonly attempt: Attempt;
}

/** The values of a step for its placeholders; for a hash or HMAC also the text that went in. */
export interface StepResult {
  readonly value: string;
  readonly names?: string;
  readonly of?: string;
}

export function performStep(step: Step, { fill, header, attempt }: SignedParts): StepResult {
  if ('time' in step) return { value: writeTime(attempt.now, step) };
  if ('nonce' in step)
    return {
      value: attempt
        .random(Math.ceil(step.nonce / 2))
        .toString('hex')
        .slice(0, step.nonce),
    };
  if ('text' in step) return { value: fill(step.text) };
  if ('headers' in step) {
    const names = step.headers.toSorted();
    const written = (name: string) => (step.lowerCase ? header(name).toLowerCase() : header(name));
    return {
      value: names.map((name) => `${name}:${written(name).trim()}\n`).join(''),
      names: names.join(';'),
    };
  }
  const of = fill(step.of);
  if ('hash' in step) return { value: encode(createHash(step.hash).update(of).digest(), step.as), of };
  const sign = (key: string | Buffer, text: string) => createHmac(step.hmac, key).update(text).digest();
  const [first = '', ...others] = [step.key].flat().map((part) => fill(part));
  const key = others.reduce<string | Buffer>(sign, first);
  return { value: encode(sign(key, of), step.as), of };
}

function encode(bytes: Buffer, as: (typeof encodings)[number]): string {
  if (as === 'HEX') return bytes.toString('hex').toUpperCase();
  if (as === 'base64-of-hex') return Buffer.from(bytes.toString('hex')).toString('base64');
  return bytes.toString(as);
}

type TimeStep = Extract<Step, { readonly time: string }>;

/** The position of each part of a time format in `2019-02-25T16:44:25.000Z`. */
const timeParts: Readonly<Record<string, readonly [number, number]>> = {
  YYYY: [0, 4],
  MM: [5, 7],
  DD: [8, 10],
  HH: [11, 13],
  mm: [14, 16],
  ss: [17, 19],
};
const timePart = /YYYY|MM|DD|HH|mm|ss/g;

function writeTime(now: number, { time, utcOffset }: TimeStep): string {
  if (time === 'unix') return String(Math.floor(now / 1000));
  if (time === 'millis') return String(Math.floor(now));
  if (time === 'http') return new Date(now).toUTCString();
  const iso = new Date(now + utcOffset * hourMs).toISOString();
  return time.replace(timePart, (part) => iso.slice(...(timeParts[part] ?? [0, 0])));
}

/** The instant that a written time says, to the second; null if the format has no time of day. `near` completes a missing year. */
export function readTime(text: string, { time, utcOffset }: TimeStep, near: number): number | null {
  if (time === 'unix') return Number(text) * 1000;
  if (time === 'millis') return Number(text);
  if (time === 'http') return Date.parse(text);
  if (!time.includes('ss')) return null;
  const digits = [...new Date(near + utcOffset * hourMs).toISOString()];
  // Each part of the format is as long as its value.
  for (const { 0: part, index } of time.matchAll(timePart)) {
    const [from, to] = timeParts[part] ?? [0, 0];
    digits.splice(from, to - from, ...text.slice(index, index + to - from));
  }
  const said = Date.parse(`${digits.slice(0, 19).join('')}Z`);
  return Number.isNaN(said) ? null : said - utcOffset * hourMs;
}
