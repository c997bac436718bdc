import type { Channel } from '../daemon/ports.ts';
import type { Clock } from '../domain/ports.ts';
import type { ChannelSettings } from '../domain/settings.ts';
import { createEmailChannel } from './email/email-channel.ts';
import { createSlackChannel } from './slack/slack-channel.ts';
import { createWebhookChannel } from './webhook/webhook-channel.ts';

/** The channel that a part of the configuration describes. It opens no connection before the first message. */
export function createChannel(settings: ChannelSettings, dependencies: { readonly clock: Clock }): Channel {
  const { clock } = dependencies;
  switch (settings.type) {
    case 'slack':
      return createSlackChannel({ name: settings.name, webhookUrl: settings.webhookUrl, clock });
    case 'email':
      return createEmailChannel({ settings, clock });
    case 'webhook':
      return createWebhookChannel({ name: settings.name, url: settings.url, secret: settings.secret, clock });
  }
}
