import { expect, it } from 'vitest';
import type { Fact } from '../../src/domain/quantity.ts';
import { channelFailed, variableFact } from '../../src/rules/self-alert-kinds.ts';
import { english } from '../../src/wording/language.ts';
import { buildItem, messageNow } from '../support/messages.ts';

const frame = { language: english, timezone: 'UTC', now: messageNow, currency: null };

function adviceWith(facts: readonly Fact[]): string {
  const item = buildItem({ type: 'channel-failed', rule: 'channel-failed:ops', account: null, facts });
  return channelFailed.advice(item, frame).join(' ');
}

it('asks for a restart only where something of the channel comes from the environment', () => {
  const variable = { name: variableFact, value: { unit: 'text', text: 'SLACK_WEBHOOK_URL' } } as const;
  expect(adviceWith([variable])).toContain('SLACK_WEBHOOK_URL, is taken by a restart');
  expect(adviceWith([])).not.toContain('restart');
});
