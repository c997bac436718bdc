import { type AnswerTable, commonAnswers } from '../answers.ts';
import { type HttpAnswer, isSuccess, jsonOf } from '../http-answer.ts';

/** What a workflow answers. It answers before it posts: a card that Teams refuses afterwards is seen in the workflow's runs only. */
export const teamsAnswers: AnswerTable = {
  receiver: 'the Teams workflow',
  quote: errorCode,
  rows: [
    {
      answer: '2xx, mostly 202 without a body',
      fits: isSuccess,
      means: 'delivered',
      note: 'the workflow took it; whether Teams showed it stands in its run history',
      source: 'reports of users; learn.microsoft.com says nothing',
    },
    {
      answer: '401, 403, 404',
      fits: ({ status }) => [401, 403, 404].includes(status),
      means: 'dead',
      remedy:
        'the workflow is gone, switched off, or its address is not whole; it must let "Anyone" start it',
      source: 'learn.microsoft.com, create incoming webhooks with Workflows',
    },
    ...commonAnswers,
  ],
};

/** `{"error":{"code":"WorkflowTriggerIsNotEnabled", …}}` */
function errorCode(answer: HttpAnswer): string {
  const error = jsonOf(answer)?.error;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  return typeof code === 'string' && /^\w{2,60}$/.test(code) ? code : '';
}
