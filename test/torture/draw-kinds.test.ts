import { describe, expect, it } from 'vitest';
import { channelKinds } from '../../src/channels/registry.ts';
import { providerKinds } from '../../src/providers/registry.ts';
import type { RuleKind } from '../../src/rules/kind.ts';
import { ruleKinds } from '../../src/rules/registry.ts';
import { exampleChannels } from '../support/example-channels.ts';
import { accessOf, drawRuleOf, entryOfKind } from './draw-kinds.ts';
import { drawScenario } from './draw-scenario.ts';
import { Seeded } from './seeded.ts';

const seeds = Array.from({ length: 150 }, (_, place) => place + 1);

describe('the simulation draws every registered kind', () => {
  it.each<RuleKind>([...ruleKinds])('rules of type $type, with different keys', (kind) => {
    const from = new Seeded(1, kind.type);
    const rules = seeds.map((seed) =>
      drawRuleOf(kind, from, { id: `rule-${seed}`, match: {}, balances: ['sms', 'voip'] }),
    );
    expect(rules.every(({ type }) => type === kind.type)).toBe(true);
    expect(new Set(rules.map((rule) => JSON.stringify({ ...rule, id: '' }))).size).toBeGreaterThan(2);
  });

  it('rules and channels of all types within 150 stories', () => {
    const stories = seeds.map((seed) => drawScenario(seed, 1).settings);
    const typesOf = (lists: readonly (readonly { readonly type: string }[])[]) =>
      [...new Set(lists.flat().map(({ type }) => type))].toSorted();
    expect(typesOf(stories.map(({ rules }) => rules))).toEqual(typesOf([ruleKinds]));
    expect(typesOf(stories.map(({ channels }) => channels))).toEqual(typesOf([channelKinds]));
    const entries = stories.flatMap(({ providers }) => Object.values(providers));
    expect(entries.some(({ polled }) => !polled)).toBe(true);
    expect(new Set(entries.map(({ type }) => type)).size).toBeGreaterThan(providerKinds.length / 2);
  });

  it.each(providerKinds.map(({ type }) => type))('accounts of a provider of type %s', (type) => {
    const entry = entryOfKind(type);
    const account = accessOf(entry, 'secret-key');
    expect(entry.type).toBe(type);
    expect(Object.keys(account.credentials)).toEqual(entry.credentialNames);
    expect(account.balances.length).toBeGreaterThan(0);
  });

  it('a channel of each type has an example that it is drawn from', () => {
    expect(exampleChannels().map(({ type }) => type)).toEqual(channelKinds.map(({ type }) => type));
  });
});
