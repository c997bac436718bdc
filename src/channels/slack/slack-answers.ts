import { type HttpAnswer, isSuccess, jsonOf } from '../../net/http-answer.ts';
import { type Accept, acceptRows, strangeSuccess } from '../accept.ts';
import { type AnswerTable, commonAnswers } from '../answers.ts';
import { readSeconds } from '../robot-answers.ts';

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
