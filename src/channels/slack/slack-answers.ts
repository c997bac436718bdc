import { type HttpAnswer, isSuccess, jsonOf } from '../../net/http-answer.ts';
import {
  type Accept,
  type AnswerRow,
  type AnswerTable,
  acceptRows,
  commonAnswers,
  strangeSuccess,
} from '../answers.ts';
import { readSeconds } from '../post-kind.ts';

/**
 * What an incoming webhook answers, or a server that resembles Slack and says by `accept` how. What Slack cannot read is sent once
 * more as plain text before this table is asked.
 */
export function slackAnswers(accept: Accept | null): AnswerTable {
  return {
    receiver: 'Slack',
    quote: wordOf,
    readWait: (answer) => readSeconds(jsonOf(answer)?.retry_after),
    rows: [
      ...acceptRows(accept),
      {
        answer: '200 `ok`',
        fits: (answer) => isSuccess(answer) && isAccepted(answer),
        means: 'delivered',
        note: 'the same in JSON, `{"ok": true}`, as workflow triggers say it',
        source: 'docs.slack.dev, incoming webhooks',
      },
      strangeSuccess({
        answer: '2xx with another body, or none',
        remedy:
          'this is not what Slack answers; for a server that only resembles Slack say in "accept" of the channel what a good answer is',
        source: 'docs.slack.dev, incoming webhooks: the answer is `ok`',
      }),
      ...commonAnswers,
    ],
  };
}

function isAccepted(answer: HttpAnswer): boolean {
  return answer.body.trim() === 'ok' || jsonOf(answer)?.ok === true;
}

/** Slack's one-word reasons are worth quoting; anything longer is a page of something else. */
function wordOf({ body }: HttpAnswer): string {
  const text = body.trim();
  return /^[a-z_]{2,60}$/.test(text) ? text : '';
}

const methodsPage = 'docs.slack.dev, chat.postMessage and chat.update';

/** The word by which Slack refuses a call; null where it says none. */
export function errorOf(answer: HttpAnswer): string | null {
  const json = jsonOf(answer);
  return json?.ok === false && typeof json.error === 'string' ? json.error : null;
}

function errors(words: readonly string[], row: Pick<AnswerRow, 'means'> & Partial<AnswerRow>): AnswerRow {
  return {
    answer: words.map((word) => `\`${word}\``).join(', '),
    fits: (answer) => words.includes(errorOf(answer) ?? ''),
    source: methodsPage,
    ...row,
  };
}

/** What Slack's Web API answers, nearly always with the status 200. A refusal of the layout is sent once more as plain text before. */
export const slackBotAnswers: AnswerTable = {
  receiver: 'Slack',
  quote: (answer) => errorOf(answer) ?? '',
  rows: [
    {
      answer: '200 `"ok": true`',
      fits: (answer) => isSuccess(answer) && jsonOf(answer)?.ok === true,
      means: 'delivered',
      source: methodsPage,
    },
    errors(['ratelimited', 'rate_limited', 'message_limit_exceeded'], {
      means: 'refused',
      waitMs: 30_000,
      note: 'waits half a minute, or as `Retry-After` says',
    }),
    errors(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout'], {
      means: 'unknown',
      note: 'a part of it may have been done',
    }),
    errors(
      [
        'invalid_auth',
        'not_authed',
        'account_inactive',
        'token_revoked',
        'token_expired',
        'missing_scope',
        'no_permission',
      ],
      { means: 'dead', remedy: 'check "botToken": it is that of an installed bot with the scope chat:write' },
    ),
    errors(['channel_not_found', 'not_in_channel', 'is_archived', 'restricted_action'], {
      means: 'dead',
      remedy: 'check "channel", and invite the bot to it (/invite)',
    }),
    {
      answer: 'another `"ok": false`',
      fits: (answer) => errorOf(answer) !== null,
      means: 'dead',
      source: methodsPage,
    },
    strangeSuccess({
      answer: 'another 2xx',
      remedy: 'this is not what Slack answers; check "apiUrl"',
      source: methodsPage,
    }),
    ...commonAnswers,
  ],
};

/** Refusals of what the message looks like: as plain text it may pass. */
const layoutErrors = [
  'invalid_blocks',
  'invalid_blocks_format',
  'invalid_attachments',
  'too_many_attachments',
  'msg_too_long',
  'msg_blocks_too_long',
];

export function isLayoutRefused(answer: HttpAnswer): boolean {
  return layoutErrors.includes(errorOf(answer) ?? '') || answer.status === 413;
}

/** The message whose thread it was to join is not there any more. */
export function isThreadGone(answer: HttpAnswer): boolean {
  return ['thread_not_found', 'message_not_found', 'cannot_reply_to_message'].includes(errorOf(answer) ?? '');
}
