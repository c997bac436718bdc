import * as z from 'zod';
import type { Secret } from '../../domain/secret.ts';
import type { ChannelSettings } from '../../domain/settings.ts';
import { credentialAddress } from '../../schema/addresses.ts';
import { shape } from '../../schema/shapes.ts';
import { secret } from '../../schema/texts.ts';
import { type Mention, mentionSchema } from '../mention.ts';

export const dingtalkSchema = shape({
  type: z.literal('dingtalk').meta({ description: 'Messages by a DingTalk group robot (钉钉自定义机器人).' }),
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
});

export interface DingtalkSettings extends ChannelSettings {
  readonly webhookUrl: Secret;
  readonly secret: Secret | null;
  readonly mention: Mention;
}

export function buildDingtalk(name: string, config: z.output<typeof dingtalkSchema>): DingtalkSettings {
  const { type, webhookUrl, secret: key = null, mention = {} } = config;
  return { type, name, place: webhookUrl, webhookUrl, secret: key, mention };
}
