import { jsonOf } from '../../net/http-answer.ts';
import { credentialAddress } from '../../schema/addresses.ts';
import { secret } from '../../schema/texts.ts';
import { mentionSchema } from '../mention.ts';
import { readSeconds, robotAnswers } from '../robot-answers.ts';
import { robotKind } from '../robot-kind.ts';

const robotPage = 'open.dingtalk.com, custom robots';
const codePage = 'open.dingtalk.com, global error codes';

/** What a robot answers: always 200, and a code in the body. A body that is repeated by its `msgUuid` comes once. */
const dingtalkAnswers = robotAnswers({
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

/** A DingTalk group robot. */
export const dingtalkKind = robotKind({
  type: 'dingtalk',
  description: 'Messages by a DingTalk group robot (钉钉自定义机器人).',
  keys: {
    webhookUrl: credentialAddress(
      'Address of the robot, with its access_token. It is a credential.',
      'a DingTalk group robot',
    ),
    secret: secret(
      'Key of the robot’s signing, "SEC…"; absent where the robot goes by keyword or address.',
    ).optional(),
    mention: mentionSchema({
      description: 'Who is mentioned, by severity: mobile numbers or user ids, or "all".',
      pattern: /^(?:all|\+?[\d-]{6,20}|[A-Za-z0-9_$.-]{1,64})$/,
      allowed: 'must be a mobile number, a user id, or "all"',
    }).optional(),
  },
  hosts: /^oapi\.dingtalk\.com$/,
  // 20 messages a minute and robot; beyond that it is silenced for ten minutes (open.dingtalk.com, custom robots).
  minGapMs: () => 3000,
  answers: dingtalkAnswers,
  load: async () => (await import('./dingtalk-robot.ts')).dingtalkRobot,
});
