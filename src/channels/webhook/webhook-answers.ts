import { type AnswerTable, commonAnswers } from '../answers.ts';
import { isSuccess } from '../http-answer.ts';

/** What a receiver of webhooks answers (Standard Webhooks, "Operational considerations"). */
export const webhookAnswers: AnswerTable = {
  receiver: 'the receiver',
  rows: [
    {
      answer: '2xx',
      fits: isSuccess,
      means: 'delivered',
      source: 'standardwebhooks.com, operational considerations',
    },
    ...commonAnswers,
  ],
};
