import { type HttpAnswer, jsonOf } from '../../net/http-answer.ts';
import { strangeSuccess } from '../accept.ts';
import { type AnswerTable, commonAnswers } from '../answers.ts';

const eventsPage = 'developer.pagerduty.com, Events API v2';

/** What the Events API answers. It works later than it answers: 202 is no proof of an incident. A repeated event is the same one. */
export const pagerdutyAnswers: AnswerTable = {
  receiver: 'PagerDuty',
  quote: firstError,
  rows: [
    { answer: '202', fits: ({ status }) => status === 202, means: 'delivered', source: eventsPage },
    strangeSuccess({
      answer: 'another 2xx',
      remedy: 'the answer is not from PagerDuty; check "baseUrl"',
      source: eventsPage,
    }),
    {
      answer: '400',
      fits: ({ status }) => status === 400,
      means: 'dead',
      remedy: 'check "routingKey": it is that of an Events API v2 integration',
      note: 'with the first of its `errors`',
      source: eventsPage,
    },
    {
      answer: '429',
      fits: ({ status }) => status === 429,
      means: 'refused',
      waitMs: 30_000,
      note: 'waits half a minute, or as `Retry-After` says',
      source: eventsPage,
    },
    ...commonAnswers,
  ],
};

function firstError(answer: HttpAnswer): string {
  const json = jsonOf(answer);
  const errors: unknown = json?.errors;
  const [first]: readonly unknown[] = Array.isArray(errors) ? errors : [];
  const text = first ?? json?.message;
  return typeof text === 'string' ? text : '';
}
