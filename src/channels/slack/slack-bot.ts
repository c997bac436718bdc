import { stringify } from 'node:querystring';
import type { Secret } from '../../domain/secret.ts';
import type { HttpAnswer } from '../../net/http-answer.ts';
import { type HttpPost, postOnce } from '../../net/http-post.ts';

export interface SlackBot {
  readonly botToken: Secret;
  /** Its name with `#`, or its id. */
  readonly channel: string;
  readonly apiUrl: string;
  /** How people act there; null if they do not. */
  readonly chat: SlackChat | null;
}

export interface SlackChat {
  readonly appToken: Secret;
  /** Null: everybody in the channel. */
  readonly actors: readonly string[] | null;
}

export type SlackFields = Readonly<Record<string, string | boolean | object>>;

/** One call of the Web API: a form whose lists are JSON (docs.slack.dev, using the Slack Web API). */
export function callSlack(
  method: string,
  fields: SlackFields,
  {
    apiUrl,
    token,
    ...post
  }: Pick<HttpPost, 'signal' | 'dispatcher' | 'clock'> & { readonly apiUrl: string; readonly token: Secret },
): Promise<HttpAnswer> {
  const texts = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : value,
  ]);
  return postOnce({
    ...post,
    url: `${apiUrl}/${method}`,
    headers: {
      authorization: `Bearer ${token.reveal()}`,
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': 'lowwater',
    },
    body: stringify(Object.fromEntries(texts)),
  });
}
