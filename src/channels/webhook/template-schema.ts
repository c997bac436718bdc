import * as z from 'zod';
import { nearestWord } from '../../domain/nearest-word.ts';

const jsonSchema = z.json();

/** A JSON value; its strings may hold `{{field}}`. */
export type Template = z.output<typeof jsonSchema>;

/** Names that a template may use. `labels.<name>` is a label of the account. */
const fields: readonly string[] = [
  'title',
  'text',
  'severity',
  'state',
  'status',
  'id',
  'time',
  'account.id',
  'account.name',
  'rule',
  'type',
  'incident',
  'value',
  'threshold',
  'currency',
  'firedAt',
  'resolvedAt',
  'advice',
  'note',
  'topUpUrl',
  'acknowledgeUrl',
  'runbookUrl',
  'pageUrl',
];

export const placeholder = /\{\{([^{}]*)\}\}/g;
export const labelPrefix = 'labels.';
/** Followed by the id of a balance, such as `balance.sms`. */
export const balancePrefix = 'balance.';

/** `template` of the configuration: data, not code. An unknown field is an error, reported where it stands. */
export const templateSchema = z
  .unknown()
  .transform((value, context): Template => {
    const { data: template } = jsonSchema.safeParse(value);
    if (template === undefined) {
      context.addIssue({ code: 'custom', message: 'must be a JSON value' });
      return z.NEVER;
    }
    for (const { path, name } of findUnknown(template, [])) {
      const nearest = nearestWord(name, fields);
      const advice =
        nearest === null
          ? `known are ${fields.join(', ')}, balance.<id> and labels.<name>`
          : `did you mean {{${nearest}}}?`;
      context.addIssue({
        code: 'custom',
        path: [...path],
        message: `holds a field that is not known; ${advice}`,
      });
    }
    return template;
  })
  .describe(
    'The body to send instead of lowwater’s own, as JSON whose strings may hold fields such as {{title}} or {{account.name}}. A list with one entry is filled in once for each alert.',
  );

function findUnknown(
  value: Template,
  path: readonly (string | number)[],
): readonly { readonly path: readonly (string | number)[]; readonly name: string }[] {
  if (typeof value === 'string') {
    return [...value.matchAll(placeholder)]
      .map(([, name = '']) => name.trim())
      .filter(
        (name) => !fields.includes(name) && !name.startsWith(labelPrefix) && !name.startsWith(balancePrefix),
      )
      .map((name) => ({ path, name }));
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    findUnknown(each, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}
