import { jsonOf } from '../http-answer.ts';
import { readSeconds, robotAnswers } from '../robot-answers.ts';

const robotPage = 'open.dingtalk.com, custom robots';
const codePage = 'open.dingtalk.com, global error codes';

/** What a robot answers: always 200, and a code in the body. A body that is repeated by its `msgUuid` comes once. */
export const dingtalkAnswers = robotAnswers({
  receiver: 'DingTalk',
  keys: ['errcode', 'errmsg'],
  source: robotPage,
  readWait: (answer) => readSeconds(jsonOf(answer)?.wait),
  rows: [
    {
      codes: [310_000],
      means: 'dead',
      remedy: 'check the robot’s keyword, its "secret", its list of addresses, and the clock of this host',
      note: 'keyword missing, signature or time wrong, address not allowed: the text says which',
      source: robotPage,
    },
    {
      codes: [130_101, 90_030, 410_100],
      means: 'refused',
      waitMs: 60_000,
      note: 'too many messages: waits a minute, or as `wait` in the body says',
      source: `${robotPage}; 90030 and 410100 by reports only`,
    },
    { codes: [-1], means: 'refused', note: 'busy', source: codePage },
  ],
  others: { note: 'such as 400013 (group dissolved) and 400102 (robot disabled)', source: codePage },
});
