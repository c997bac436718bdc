import { strangeSuccess } from '../accept.ts';
import { type AnswerTable, commonAnswers } from '../answers.ts';
import { isSuccess } from '../http-answer.ts';
import { numberAt, quoteCode } from '../robot-answers.ts';

const robotPage = 'developer.work.weixin.qq.com, group robots (91770)';
const codePage = 'developer.work.weixin.qq.com, global error codes';

/** What a robot answers: always 200, and a code in the body. The text beside it may change, so that only the code decides. */
export const wecomAnswers: AnswerTable = {
  receiver: 'WeCom',
  quote: (answer) => quoteCode(answer, 'errcode', 'errmsg'),
  rows: [
    {
      answer: '200, `errcode` 0',
      fits: (answer) => isSuccess(answer) && numberAt(answer, 'errcode') === 0,
      means: 'delivered',
      source: robotPage,
    },
    {
      answer: '`errcode` 45009',
      fits: (answer) => numberAt(answer, 'errcode') === 45_009,
      means: 'refused',
      waitMs: 60_000,
      note: 'too many messages: waits a minute',
      source: codePage,
    },
    {
      answer: '`errcode` -1',
      fits: (answer) => numberAt(answer, 'errcode') === -1,
      means: 'refused',
      tries: 4,
      note: 'busy; again three times at most, as WeCom asks',
      source: codePage,
    },
    {
      answer: '`errcode` 93000',
      fits: (answer) => numberAt(answer, 'errcode') === 93_000,
      means: 'dead',
      remedy: 'the robot was removed, or its key is wrong',
      source: 'an implementation; not in the documentation',
    },
    {
      answer: 'any other `errcode`',
      fits: (answer) => numberAt(answer, 'errcode') !== null && numberAt(answer, 'errcode') !== 0,
      means: 'dead',
      source: codePage,
    },
    strangeSuccess({
      answer: '2xx without `errcode`',
      remedy: 'the answer is not from WeCom; check the address',
      source: robotPage,
    }),
    ...commonAnswers,
  ],
};
