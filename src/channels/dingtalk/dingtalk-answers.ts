import { strangeSuccess } from '../accept.ts';
import { type AnswerTable, commonAnswers } from '../answers.ts';
import { isSuccess, jsonOf } from '../http-answer.ts';
import { numberAt, quoteCode, readSeconds } from '../robot-answers.ts';

const robotPage = 'open.dingtalk.com, custom robots';

/** What a robot answers: always 200, and a code in the body. A body that is repeated by its `msgUuid` comes once. */
export const dingtalkAnswers: AnswerTable = {
  receiver: 'DingTalk',
  quote: (answer) => quoteCode(answer, 'errcode', 'errmsg'),
  readWait: (answer) => readSeconds(jsonOf(answer)?.wait),
  rows: [
    {
      answer: '200, `errcode` 0',
      fits: (answer) => isSuccess(answer) && numberAt(answer, 'errcode') === 0,
      means: 'delivered',
      source: robotPage,
    },
    {
      answer: '`errcode` 310000',
      fits: (answer) => numberAt(answer, 'errcode') === 310_000,
      means: 'dead',
      remedy: 'check the robot’s keyword, its "secret", its list of addresses, and the clock of this host',
      note: 'keyword missing, signature or time wrong, address not allowed: the text says which',
      source: robotPage,
    },
    {
      answer: '`errcode` 130101, 90030, 410100',
      fits: (answer) => [130_101, 90_030, 410_100].includes(numberAt(answer, 'errcode') ?? 0),
      means: 'refused',
      waitMs: 60_000,
      note: 'too many messages: waits a minute, or as `wait` in the body says',
      source: `${robotPage}; 90030 and 410100 by reports only`,
    },
    {
      answer: '`errcode` -1',
      fits: (answer) => numberAt(answer, 'errcode') === -1,
      means: 'refused',
      note: 'busy',
      source: 'open.dingtalk.com, global error codes',
    },
    {
      answer: 'any other `errcode`',
      fits: (answer) => numberAt(answer, 'errcode') !== null && numberAt(answer, 'errcode') !== 0,
      means: 'dead',
      note: 'such as 400013 (group dissolved) and 400102 (robot disabled)',
      source: 'open.dingtalk.com, global error codes',
    },
    strangeSuccess({
      answer: '2xx without `errcode`',
      remedy: 'the answer is not from DingTalk; check the address',
      source: robotPage,
    }),
    ...commonAnswers,
  ],
};
