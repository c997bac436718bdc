import { longestRetryAfterMs } from '../../domain/retry-after.ts';
import { type AnswerTable, commonAnswers } from '../answers.ts';
import { type HttpAnswer, isSuccess, jsonOf } from '../http-answer.ts';

/** What an incoming webhook answers. What Slack cannot read is sent once more as plain text before this table is asked. */
export const slackAnswers: AnswerTable = {
  receiver: 'Slack',
  quote: wordOf,
  readWait: retryAfterOfBody,
  rows: [
    {
      answer: '200 `ok`',
      fits: (answer) => isSuccess(answer) && isAccepted(answer),
      means: 'delivered',
      note: 'the same in JSON, as workflow triggers and compatible servers say it',
      source: 'docs.slack.dev, incoming webhooks',
    },
    {
      answer: '2xx with another body',
      fits: isSuccess,
      means: 'unknown',
      remedy: 'the answer is not from Slack',
      note: 'something between us and Slack answered',
      source: 'docs.slack.dev, incoming webhooks: the answer is `ok`',
    },
    ...commonAnswers,
  ],
};

function isAccepted(answer: HttpAnswer): boolean {
  const text = answer.body.trim();
  if (text === '' || text === 'ok') return true;
  const json = jsonOf(answer);
  return json !== null && json.ok !== false;
}

function retryAfterOfBody(answer: HttpAnswer): number | null {
  const seconds = jsonOf(answer)?.retry_after;
  if (typeof seconds !== 'number' || !(seconds >= 0)) return null;
  return Math.min(Math.ceil(seconds * 1000), longestRetryAfterMs);
}

/** Slack's one-word reasons are worth quoting; anything longer is a page of something else. */
function wordOf({ body }: HttpAnswer): string {
  const text = body.trim();
  return /^[a-z_]{2,60}$/.test(text) ? text : '';
}
