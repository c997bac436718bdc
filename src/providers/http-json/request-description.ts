import * as z from 'zod';
import { choice, shape } from '../../schema/shapes.ts';
import { textLeaf } from '../../schema/texts.ts';
import { hasUnknownPlaceholder } from './placeholders.ts';

export function template(description: string) {
  return textLeaf({
    description: `${description} May hold {{credentials.name}}.`,
    allowed:
      'must be a string; of placeholders, only {{credentials.name}} is known, and what "sign" and "token" bring',
    read(text) {
      // UTF-8 cannot express half of a surrogate pair.
      if (!text.isWellFormed()) return { wrong: 'is not well-formed text' };
      return hasUnknownPlaceholder(text) ? null : { value: text };
    },
  });
}

function templates(description: string) {
  return z
    .record(z.string().regex(/^[\w.[\]-]{1,100}$/), template('A value.'), {
      error: 'must be an object of names (letters, digits, - _ . [ ]) with strings',
    })
    .describe(description);
}

/** Names of headers that a connection sets by itself, or that end it. */
const ownHeaders =
  /^(?:connection|content-length|expect|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/i;

/** RFC 9110, 5: a name is a token, and a value visible ASCII. */
const requestHeaders = z
  .record(z.string(), template('A value.'), { error: 'must be an object of names with strings' })
  .superRefine((headers, context) => {
    const refuse = (name: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [name], message });
    const seen = new Set<string>();
    for (const [name, value] of Object.entries(headers)) {
      if (!/^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name)) refuse(name, 'is no name of a header');
      else if (ownHeaders.test(name)) refuse(name, 'cannot be sent: the connection sets it by itself');
      else if (!/^[\t\x20-\x7e]*$/.test(value))
        refuse(name, 'cannot be sent: it holds line breaks or characters beyond ASCII');
      else if (seen.has(name.toLowerCase()))
        refuse(name, 'stands here twice: case does not matter in names of headers');
      seen.add(name.toLowerCase());
    }
  })
  .describe('Headers. What is sent with every request (Accept, User-Agent) can be replaced.');

const jsonTemplate = z
  .json({ error: 'must be a JSON value' })
  .refine((value) => !hasUnknownPlaceholder(JSON.stringify(value)), {
    error: 'holds a placeholder that is not {{credentials.name}}',
  })
  .describe('A JSON value to send as the body. Its strings may hold {{credentials.name}}.');

const requestUrl = textLeaf({
  description:
    'Address of the balance. Path and query may hold {{credentials.name}}, which is percent-encoded; scheme and host may not.',
  allowed:
    'must be an http:// or https:// address without user and fragment; only {{credentials.name}} in path and query',
  examples: ['https://sms.example.net/v1/wallet?user={{credentials.user}}'],
  read: (text) => (isRequestUrl(text) ? { value: text } : null),
});

function isRequestUrl(text: string): boolean {
  const [, origin = ''] = /^(https?:\/\/[^/?#{}\s@\\]+)(?:[/?]|$)/.exec(text) ?? [];
  const bare = text.slice(origin.length).replace(/\{\{[^{}]*\}\}/g, '');
  return URL.canParse(origin) && /^[!-"$-[\]-z|~]*$/.test(bare) && !hasUnknownPlaceholder(text);
}

export const requestShape = shape({
  method: choice('HTTP method.', ['GET', 'POST']).default('GET'),
  url: requestUrl,
  query: templates('Query parameters, percent-encoded, after those of the address.').optional(),
  headers: requestHeaders.optional(),
  basic: shape({ user: template('User.'), password: template('Password.') })
    .describe('HTTP Basic authentication.')
    .optional(),
  bearer: template('Token of an `Authorization: Bearer` header.').optional(),
  json: jsonTemplate.optional(),
  form: templates('Fields of a form to send as the body.').optional(),
})
  .superRefine((request, context) => {
    const problem = (key: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [key], message });
    if (request.json !== undefined && request.form !== undefined) problem('form', 'excludes json');
    if (request.basic !== undefined && request.bearer !== undefined) problem('bearer', 'excludes basic');
    if (request.method === 'GET' && (request.json ?? request.form) !== undefined)
      problem('method', 'must be POST where there is a body');
  })
  .describe('The request that answers with the balance. Redirects are never followed.');
