import type { ChannelSettings } from '../domain/settings.ts';
import type { Channel } from '../ports/channel.ts';
import type { SenderDependencies } from './kind.ts';
import { kindOf } from './registry.ts';

/**
 * The channel that a part of the configuration describes. What its kind needs is loaded at once, so that the first message does
 * not wait for it; no connection is opened before that message.
 */
export function createChannel(settings: ChannelSettings, dependencies: SenderDependencies): Channel {
  const kind = kindOf(settings);
  const sender = kind.openSender(settings, dependencies);
  return {
    name: settings.name,
    threadsBySubject: kind.threadsBySubject ?? false,
    drawsAlerts: kind.drawsAlerts ?? false,
    ...kind.pace(settings),
    send: async (message, signal) => (await sender).send(message, signal),
    preview: async (message) => (await sender).preview(message),
    close: async () => (await sender).close(),
  };
}
