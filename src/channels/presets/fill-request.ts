import type { Tone } from '../../messages/item-wording.ts';
import type { Attempt } from '../post-sender.ts';
import type { PresetRequest, PresetTemplate } from './preset.ts';

/** What placeholders stand for. All are filled in one pass: a value that looks like a placeholder stays what it is. */
export interface FilledFields {
  readonly values: Readonly<Record<string, string>>;
  readonly tone: Tone;
}

const placeholder = /\{\{(\w+)\}\}/g;

/** A request of a preset with everything filled in, encoded for the place where it stands. */
export function fillRequest(request: PresetRequest, { values, tone }: FilledFields): Attempt {
  const fill = (text: string, encode: (value: string) => string = (value) => value): string =>
    text.replace(placeholder, (_, name: string) => encode(values[name] ?? ''));
  /** A header or a field of which nothing is known is left out. */
  const isEmpty = (text: string): boolean =>
    [...text.matchAll(placeholder)].some(([, name = '']) => (values[name] ?? '') === '');
  const known = (texts: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(texts).flatMap(([name, text]) => (isEmpty(text) ? [] : [[name, fill(text)]])),
    );
  const [, start = '', rest = ''] = /^(\{\{\w+\}\})?(.*)$/.exec(request.url) ?? [];
  const basic = request.basic?.map((text) => fill(text)).join(':');
  const contentType = request.form === undefined ? 'application/json' : 'application/x-www-form-urlencoded';
  return {
    url: fill(start) + fill(rest, encodeURIComponent),
    headers: {
      'content-type': contentType,
      ...known(request.headers),
      ...(basic === undefined ? {} : { authorization: `Basic ${Buffer.from(basic).toString('base64')}` }),
    },
    body:
      request.form === undefined
        ? JSON.stringify(fillJson(request.json ?? {}, { fill, isEmpty, tone }))
        : new URLSearchParams(known(request.form)).toString(),
  };
}

interface Filling {
  readonly fill: (text: string) => string;
  readonly isEmpty: (text: string) => boolean;
  readonly tone: Tone;
}

function fillJson(template: PresetTemplate, filling: Filling): PresetTemplate | undefined {
  if (typeof template === 'string')
    return filling.isEmpty(template) ? undefined : filling.fill(template).toWellFormed();
  if (typeof template !== 'object' || template === null) return template;
  if (Array.isArray(template)) return template.flatMap((each) => fillJson(each, filling) ?? []);
  const byTone = template.$tone;
  if (typeof byTone === 'object' && byTone !== null && !Array.isArray(byTone))
    return byTone[filling.tone] ?? null;
  return Object.fromEntries(
    Object.entries(template).flatMap(([name, each]) => {
      const value = fillJson(each, filling);
      return value === undefined ? [] : [[filling.fill(name), value]];
    }),
  );
}
