import { readSeconds, robotAnswers } from '../robot-answers.ts';

const botPage = 'open.feishu.cn, custom bots';

/** What a bot answers: a code in the body, whatever the status is. No id comes back, so that a lost answer may mean two messages. */
export const feishuAnswers = robotAnswers({
  receiver: 'Feishu',
  keys: ['code', 'msg'],
  source: botPage,
  readWait: ({ headers }) => readSeconds(headers['x-ogw-ratelimit-reset']),
  rows: [
    {
      codes: [11_232, 2200],
      means: 'refused',
      waitMs: 5000,
      note: 'too many messages, also when the whole service is busy on the hour',
      source: `${botPage}; 2200 by a report only`,
    },
    {
      codes: [99_991_400],
      means: 'refused',
      waitMs: 1000,
      note: 'waits as `x-ogw-ratelimit-reset` says',
      source: 'open.feishu.cn, rate limits',
    },
    {
      codes: [19_021],
      means: 'refused',
      tries: 2,
      remedy: 'check "secret" and the clock of this host',
      note: 'signature wrong, or its time an hour off: once more with a new one',
      source: botPage,
    },
    {
      codes: [19_024],
      means: 'dead',
      remedy: 'the bot’s keyword is not in the message: choose its signature check instead',
      source: botPage,
    },
  ],
  others: {
    note: 'such as 9499 (format or size), 19022 (address not allowed), 19001 (bot unknown)',
    source: botPage,
  },
});
