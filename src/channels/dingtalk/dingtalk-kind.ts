import { credentialAddress } from '../../schema/addresses.ts';
import { secret } from '../../schema/texts.ts';
import { mentionSchema } from '../mention.ts';
import { robotKind } from '../robot-kind.ts';
import { dingtalkAnswers } from './dingtalk-answers.ts';

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
