import * as z from 'zod';
import type { Secret } from '../../domain/secret.ts';
import type { ChannelSettings } from '../../domain/settings.ts';
import { credentialAddress } from '../../schema/addresses.ts';
import { shape } from '../../schema/shapes.ts';
import { type Mention, mentionSchema } from '../mention.ts';

export const wecomSchema = shape({
  type: z.literal('wecom').meta({ description: 'Messages by a WeCom group robot (企业微信群机器人).' }),
  webhookUrl: credentialAddress(
    'Address of the robot, with its key. It is a credential: the robot knows no signing.',
    'a WeCom group robot',
  ),
  mention: mentionSchema({
    description: 'Who is mentioned, by severity: mobile numbers or user ids, or "all".',
    pattern: /^(?:all|\+?[\d-]{6,20}|[A-Za-z0-9_@.-]{1,64})$/,
    allowed: 'must be a mobile number, a user id, or "all"',
  }).optional(),
});

export interface WecomSettings extends ChannelSettings {
  readonly webhookUrl: Secret;
  readonly mention: Mention;
}

export function buildWecom(name: string, config: z.output<typeof wecomSchema>): WecomSettings {
  const { type, webhookUrl, mention = {} } = config;
  return { type, name, place: webhookUrl, webhookUrl, mention };
}
