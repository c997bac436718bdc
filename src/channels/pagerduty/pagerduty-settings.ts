import * as z from 'zod';
import { Secret } from '../../domain/secret.ts';
import type { ChannelSettings } from '../../domain/settings.ts';
import { plainAddress } from '../../schema/addresses.ts';
import { shape } from '../../schema/shapes.ts';
import { textLeaf } from '../../schema/texts.ts';

export const pagerdutySchema = shape({
  type: z.literal('pagerduty').meta({ description: 'Incidents in PagerDuty by its Events API v2.' }),
  routingKey: textLeaf({
    description: 'Integration key of the service (Events API v2). It is a credential.',
    allowed: 'must be the 32 letters and digits of an Events API v2 integration',
    read: (text) => (/^[A-Za-z0-9]{32}$/.test(text) ? { value: new Secret(text) } : null),
  }),
  baseUrl: plainAddress(
    'Where events are sent; for accounts of the EU region https://events.eu.pagerduty.com.',
  ).prefault('https://events.pagerduty.com'),
});

export interface PagerdutySettings extends ChannelSettings {
  readonly routingKey: Secret;
  readonly baseUrl: string;
}

export function buildPagerduty(name: string, config: z.output<typeof pagerdutySchema>): PagerdutySettings {
  const { type, routingKey, baseUrl } = config;
  return { type, name, place: new Secret(`${baseUrl} ${routingKey.reveal()}`), routingKey, baseUrl };
}
