import * as z from 'zod';
import type { Secret } from '../../domain/secret.ts';
import type { ChannelSettings } from '../../domain/settings.ts';
import { credentialAddress } from '../../schema/addresses.ts';
import { shape } from '../../schema/shapes.ts';
import { secret } from '../../schema/texts.ts';
import { type Mention, mentionSchema } from '../mention.ts';

export const feishuSchema = shape({
  type: z
    .literal('feishu')
    .meta({ description: 'Messages by a Feishu or Lark custom bot (飞书自定义机器人).' }),
  webhookUrl: credentialAddress('Address of the bot. It is a credential.', 'a Feishu or Lark custom bot'),
  secret: secret('Key of the bot’s signature check; absent where it has none.').optional(),
  mention: mentionSchema({
    description: 'Who is mentioned, by severity: open ids or user ids, or "all".',
    pattern: /^(?:all|[A-Za-z0-9_-]{1,64})$/,
    allowed: 'must be an open id such as "ou_…", a user id, or "all"',
  }).optional(),
});

export interface FeishuSettings extends ChannelSettings {
  readonly webhookUrl: Secret;
  readonly secret: Secret | null;
  readonly mention: Mention;
}

export function buildFeishu(name: string, config: z.output<typeof feishuSchema>): FeishuSettings {
  const { type, webhookUrl, secret: key = null, mention = {} } = config;
  return { type, name, place: webhookUrl, webhookUrl, secret: key, mention };
}
