import { credentialAddress } from '../../schema/addresses.ts';
import { secret } from '../../schema/texts.ts';
import { mentionSchema } from '../mention.ts';
import { robotKind } from '../robot-kind.ts';
import { feishuAnswers } from './feishu-answers.ts';

/** A Feishu or Lark custom bot. */
export const feishuKind = robotKind({
  type: 'feishu',
  description: 'Messages by a Feishu or Lark custom bot (飞书自定义机器人).',
  keys: {
    webhookUrl: credentialAddress('Address of the bot. It is a credential.', 'a Feishu or Lark custom bot'),
    secret: secret('Key of the bot’s signature check; absent where it has none.').optional(),
    mention: mentionSchema({
      description: 'Who is mentioned, by severity: open ids or user ids, or "all".',
      pattern: /^(?:all|[A-Za-z0-9_-]{1,64})$/,
      allowed: 'must be an open id such as "ou_…", a user id, or "all"',
    }).optional(),
  },
  hosts: /^open\.(?:feishu\.cn|larksuite\.com)$/,
  // 100 messages a minute and 5 a second for each bot (open.feishu.cn, custom bots).
  minGapMs: () => 600,
  answers: feishuAnswers,
  load: async () => (await import('./feishu-robot.ts')).feishuRobot,
});
