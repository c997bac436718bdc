import * as z from 'zod';
import { Secret } from '../../domain/secret.ts';
import { type HttpAnswer, jsonOf } from '../../net/http-answer.ts';
import { plainAddress } from '../../schema/addresses.ts';
import { shape } from '../../schema/shapes.ts';
import { textLeaf } from '../../schema/texts.ts';
import { strangeSuccess } from '../accept.ts';
import { type AnswerTable, commonAnswers } from '../answers.ts';
import { isUnencrypted } from '../describe-address.ts';
import type { ChannelKind } from '../kind.ts';
import type { PagerdutySettings } from './pagerduty-sender.ts';
import type { PagerdutyEvent } from './render-pagerduty.ts';

const pagerdutySchema = shape({
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

function buildPagerduty(name: string, config: z.output<typeof pagerdutySchema>): PagerdutySettings {
  const { type, routingKey, baseUrl } = config;
  return { type, name, place: new Secret(`${baseUrl} ${routingKey.reveal()}`), routingKey, baseUrl };
}

const eventsPage = 'developer.pagerduty.com, Events API v2';

/** What the Events API answers. It works later than it answers: 202 is no proof of an incident. A repeated event is the same one. */
const pagerdutyAnswers: AnswerTable = {
  receiver: 'PagerDuty',
  quote: firstError,
  rows: [
    { answer: '202', fits: ({ status }) => status === 202, means: 'delivered', source: eventsPage },
    strangeSuccess({
      answer: 'another 2xx',
      remedy: 'the answer is not from PagerDuty; check "baseUrl"',
      source: eventsPage,
    }),
    {
      answer: '400',
      fits: ({ status }) => status === 400,
      means: 'dead',
      remedy: 'check "routingKey": it is that of an Events API v2 integration',
      note: 'with the first of its `errors`',
      source: eventsPage,
    },
    {
      answer: '429',
      fits: ({ status }) => status === 429,
      means: 'refused',
      waitMs: 30_000,
      note: 'waits half a minute, or as `Retry-After` says',
      source: eventsPage,
    },
    ...commonAnswers,
  ],
};

function firstError(answer: HttpAnswer): string {
  const json = jsonOf(answer);
  const errors: unknown = json?.errors;
  const [first]: readonly unknown[] = Array.isArray(errors) ? errors : [];
  const text = first ?? json?.message;
  return typeof text === 'string' ? text : '';
}

/** PagerDuty by its Events API v2. */
export const pagerdutyKind: ChannelKind<z.output<typeof pagerdutySchema>, PagerdutySettings> = {
  type: 'pagerduty',
  schema: pagerdutySchema,
  build: buildPagerduty,
  describe: ({ baseUrl }) => baseUrl,
  findWarnings: ({ baseUrl }) =>
    isUnencrypted(new Secret(baseUrl))
      ? [{ key: 'baseUrl', message: 'the key travels unencrypted over http://' }]
      : [],
  // About 120 events a minute for each key (developer.pagerduty.com, Events API limits); a message may be several.
  pace: ({ routingKey }) => ({ minGapMs: 1000, paceKey: routingKey.reveal() }),
  answers: pagerdutyAnswers.rows,
  async openSender(settings, dependencies) {
    const { openPagerdutySender } = await import('./pagerduty-sender.ts');
    return openPagerdutySender({ settings, table: pagerdutyAnswers, ...dependencies });
  },
  async openDemoReceiver() {
    const { receivePosts } = await import('../listen-on-loopback.ts');
    return receivePosts({
      channel: (origin) => ({ type: 'pagerduty', baseUrl: origin, routingKey: 'd'.repeat(32) }),
      // Nobody but the demo's own channel knows this address.
      show: (body) => ({ title: 'PagerDuty', lines: describeEvent(JSON.parse(body)) }),
      answer: { status: 202, body: '{"status":"success","message":"Event processed","dedup_key":"demo"}' },
    });
  },
};

function describeEvent(event: PagerdutyEvent): readonly string[] {
  if (!('payload' in event)) return [`${event.event_action} ${event.dedup_key}`];
  const { summary, custom_details: details } = event.payload;
  const action = 'dedup_key' in event ? `${event.event_action} ${event.dedup_key}` : 'change';
  return [action, summary, ...Object.entries(details).map(([label, value]) => `${label}: ${value}`)];
}
