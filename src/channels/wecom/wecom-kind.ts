import { credentialAddress } from '../../schema/addresses.ts';
import { mentionSchema } from '../mention.ts';
import { robotAnswers } from '../robot-answers.ts';
import { robotKind } from '../robot-kind.ts';

const codePage = 'developer.work.weixin.qq.com, global error codes';

/** What a robot answers: always 200, and a code in the body. The text with it may change, so only the code decides. */
const wecomAnswers = robotAnswers({
  receiver: 'WeCom',
  keys: ['errcode', 'errmsg'],
  source: 'developer.work.weixin.qq.com, group robots (91770)',
  rows: [
    {
      codes: [45_009],
      means: 'refused',
      waitMs: 60_000,
      note: 'too many messages: waits a minute',
      source: codePage,
    },
    {
      codes: [-1],
      means: 'refused',
      tries: 4,
      note: 'busy; again three times at most, as WeCom asks',
      source: codePage,
    },
    {
      codes: [93_000],
      means: 'dead',
      remedy: 'the robot was removed, or its key is wrong',
      source: 'an implementation; not in the documentation',
    },
  ],
  others: { source: codePage },
});

/** 20 messages a minute and robot (developer.work.weixin.qq.com, group robots). */
const gapMs = 3000;

/** A WeCom group robot. */
export const wecomKind = robotKind({
  type: 'wecom',
  description: 'Messages by a WeCom group robot (企业微信群机器人).',
  keys: {
    webhookUrl: credentialAddress(
      'Address of the robot, with its key. It is a credential: the robot knows no signing.',
      'a WeCom group robot',
    ),
    mention: mentionSchema({
      description: 'Who is mentioned, by severity: mobile numbers or user ids, or "all".',
      pattern: /^(?:all|\+?[\d-]{6,20}|[A-Za-z0-9_@.-]{1,64})$/,
      allowed: 'must be a mobile number, a user id, or "all"',
    }).optional(),
  },
  hosts: /^qyapi\.weixin\.qq\.com$/,
  // A message that mentions people by number is two.
  minGapMs: (mention) => (Object.keys(mention).length === 0 ? gapMs : 2 * gapMs),
  answers: wecomAnswers,
  load: async () => (await import('./wecom-robot.ts')).wecomRobot,
});
