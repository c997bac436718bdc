import { credentialAddress } from '../../schema/addresses.ts';
import { secret } from '../../schema/texts.ts';
import { mentionSchema } from '../mention.ts';
import { readSeconds, robotAnswers } from '../robot-answers.ts';
import { robotKind } from '../robot-kind.ts';

const botPage = 'open.feishu.cn, custom bots';

/** What a bot answers: a code in the body, with any status. No id comes back, so that a lost answer may mean two messages. */
const feishuAnswers = robotAnswers({
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
