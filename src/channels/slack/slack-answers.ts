import { keyOf, parseJson } from '../../domain/json.ts';
import { type HttpAnswer, isSuccess } from '../../net/http-answer.ts';
import { sentences } from '../../wording/phrase.ts';
import {
  type Accept,
  type AnswerTable,
  acceptRows,
  commonAnswers,
  strangeSuccess,
  valueAt,
} from '../answers.ts';
import { answerTable, readSeconds } from '../post-kind.ts';
import type { ReceiverAnswers } from '../receiver.ts';
import botAnswers from './bot-answers.json' with { type: 'json' };

const told = sentences('slackAnswer', {
  another:
    'this is not what Slack answers; for a server that only resembles Slack say in "accept" of the channel what a good answer is',
});

/** Before this table is asked, a message that Slack cannot read was sent again as plain text. */
export function slackAnswers(accept: Accept | null): AnswerTable {
  return {
    receiver: 'Slack',
    quote: wordOf,
    readWait: (answer) => readSeconds(valueAt(answer, 'retry_after')),
    rows: [
      ...acceptRows(accept),
      {
        answer: '200 `ok`',
        fits: (answer) =>
          isSuccess(answer) && (answer.body.trim() === 'ok' || valueAt(answer, 'ok') === true),
        means: 'delivered',
        note: 'the same in JSON, `{"ok": true}`, as workflow triggers say it',
        source: 'docs.slack.dev, incoming webhooks',
      },
      strangeSuccess({
        answer: '2xx with another body, or none',
        remedy: told.another(),
        source: 'docs.slack.dev, incoming webhooks: the answer is `ok`',
      }),
      ...commonAnswers,
    ],
  };
}

/** Slack's one-word reasons are worth quoting; anything longer is a page of something else. */
function wordOf({ body }: HttpAnswer): string {
  const text = body.trim();
  return /^[a-z_]{2,60}$/.test(text) ? text : '';
}

/** The answers of Slack's Web API, nearly always with the status 200. After a refusal of the layout, plain text was tried before. */
export const slackBotAnswers = answerTable(botAnswers as ReceiverAnswers);

function isRefusedBy(words: readonly string[], said: unknown): boolean {
  return keyOf(said, 'ok') === false && words.some((word) => word === keyOf(said, 'error'));
}

/** Refusals of the layout: as plain text the message may pass. */
const layoutErrors = [
  'invalid_blocks',
  'invalid_blocks_format',
  'invalid_attachments',
  'too_many_attachments',
  'attachment_payload_limit_exceeded',
  'msg_too_long',
  'msg_blocks_too_long',
];

export function isLayoutRefused(answer: HttpAnswer): boolean {
  return isRefusedBy(layoutErrors, parseJson(answer.body)) || answer.status === 413;
}

/** Refusals of the thread that a message was to join: the channel itself may take it. */
const threadErrors = [
  'thread_not_found',
  'message_not_found',
  'cannot_reply_to_message',
  'restricted_action_thread_locked',
  'restricted_action_non_threadable_channel',
];

/** `said`: the JSON of the answer. */
export function isThreadGone(said: unknown): boolean {
  return isRefusedBy(threadErrors, said);
}
