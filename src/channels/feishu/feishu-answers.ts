import { strangeSuccess } from '../accept.ts';
import { type AnswerTable, commonAnswers } from '../answers.ts';
import { isSuccess } from '../http-answer.ts';
import { numberAt, quoteCode, readSeconds } from '../robot-answers.ts';

const botPage = 'open.feishu.cn, custom bots';

/** What a bot answers: a code in the body, whatever the status is. No id comes back, so that a lost answer may mean two messages. */
export const feishuAnswers: AnswerTable = {
  receiver: 'Feishu',
  quote: (answer) => quoteCode(answer, 'code', 'msg'),
  readWait: ({ headers }) => readSeconds(headers['x-ogw-ratelimit-reset']),
  rows: [
    {
      answer: '200, `code` 0',
      fits: (answer) => isSuccess(answer) && numberAt(answer, 'code') === 0,
      means: 'delivered',
      source: botPage,
    },
    {
      answer: '`code` 11232, 2200',
      fits: (answer) => [11_232, 2200].includes(numberAt(answer, 'code') ?? 0),
      means: 'refused',
      waitMs: 5000,
      note: 'too many messages, also when the whole service is busy on the hour',
      source: `${botPage}; 2200 by a report only`,
    },
    {
      answer: '`code` 99991400',
      fits: (answer) => numberAt(answer, 'code') === 99_991_400,
      means: 'refused',
      waitMs: 1000,
      note: 'waits as `x-ogw-ratelimit-reset` says',
      source: 'open.feishu.cn, rate limits',
    },
    {
      answer: '`code` 19021',
      fits: (answer) => numberAt(answer, 'code') === 19_021,
      means: 'refused',
      tries: 2,
      remedy: 'check "secret" and the clock of this host',
      note: 'signature wrong, or its time an hour off: once more with a new one',
      source: botPage,
    },
    {
      answer: '`code` 19024',
      fits: (answer) => numberAt(answer, 'code') === 19_024,
      means: 'dead',
      remedy: 'the bot’s keyword is not in the message: choose its signature check instead',
      source: botPage,
    },
    {
      answer: 'any other `code`',
      fits: (answer) => numberAt(answer, 'code') !== null && numberAt(answer, 'code') !== 0,
      means: 'dead',
      note: 'such as 9499 (format or size), 19022 (address not allowed), 19001 (bot unknown)',
      source: botPage,
    },
    strangeSuccess({
      answer: '2xx without `code`',
      remedy: 'the answer is not from Feishu; check the address',
      source: botPage,
    }),
    ...commonAnswers,
  ],
};
