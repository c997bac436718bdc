import { receivePosts } from '../listen-on-loopback.ts';
import type { PagerdutyEvent } from './render-pagerduty.ts';

/** Takes what the Events API takes, and answers as it does. */
export const pagerdutyDemoReceiver = receivePosts({
  channel: (origin) => ({ type: 'pagerduty', baseUrl: origin, routingKey: 'd'.repeat(32) }),
  show: (body) => {
    // Nobody but the demo's own channel knows this address.
    const event: PagerdutyEvent = JSON.parse(body);
    if (!('payload' in event))
      return { title: 'PagerDuty', lines: [`${event.event_action} ${event.dedup_key}`] };
    const details = Object.entries(event.payload.custom_details).map(
      ([label, value]) => `${label}: ${value}`,
    );
    const action = 'dedup_key' in event ? `${event.event_action} ${event.dedup_key}` : 'change';
    return { title: 'PagerDuty', lines: [action, event.payload.summary, ...details] };
  },
  answer: { status: 202, body: '{"status":"success","message":"Event processed","dedup_key":"demo"}' },
});
