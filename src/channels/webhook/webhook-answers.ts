import { isSuccess } from '../../net/http-answer.ts';
import { type Accept, acceptRows } from '../accept.ts';
import { type AnswerTable, commonAnswers } from '../answers.ts';

/** What a receiver of webhooks answers (Standard Webhooks, "Operational considerations"), or says by `accept`. */
export function webhookAnswers(accept: Accept | null): AnswerTable {
  return {
    receiver: 'the receiver',
    rows: [
      ...acceptRows(accept),
      {
        answer: '2xx, where there is no `accept`',
        fits: isSuccess,
        means: 'delivered',
        source: 'standardwebhooks.com, operational considerations',
      },
      ...commonAnswers,
    ],
  };
}
