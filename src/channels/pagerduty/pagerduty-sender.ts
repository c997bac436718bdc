import { Secret } from '../../domain/secret.ts';
import type { ChannelSettings } from '../../domain/settings.ts';
import type { AnswerTable } from '../answers.ts';
import type { Sender, SenderDependencies } from '../kind.ts';
import { openPostSender } from '../post-sender.ts';
import { type PagerdutyEvent, renderPagerduty } from './render-pagerduty.ts';

export interface PagerdutySettings extends ChannelSettings {
  readonly routingKey: Secret;
  readonly baseUrl: string;
}

/** Sends one event for each alert of a message. Each ends by itself. */
export function openPagerdutySender(
  options: SenderDependencies & { readonly settings: PagerdutySettings; readonly table: AnswerTable },
): Sender {
  const { settings, ...limits } = options;
  const { routingKey, baseUrl } = settings;
  return openPostSender({
    ...limits,
    address: new Secret(baseUrl),
    render: (message) =>
      renderPagerduty(message).map(({ name, event }) => ({ name, body: JSON.stringify(event) })),
    prepare: ({ body }) => {
      // What `render` above wrote.
      const { event_action, ...event }: PagerdutyEvent = JSON.parse(body);
      const isChange = event_action === 'change';
      return {
        url: `${baseUrl}/v2/${isChange ? 'change/enqueue' : 'enqueue'}`,
        body: JSON.stringify({
          routing_key: routingKey.reveal(),
          ...(isChange ? {} : { event_action }),
          ...event,
        }),
      };
    },
  });
}
