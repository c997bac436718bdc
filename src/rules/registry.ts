import type { Rule } from '../domain/rule.ts';
import { authFailed } from './auth-failed.ts';
import { below } from './below.ts';
import { budget } from './budget.ts';
import { currency } from './currency.ts';
import { drop } from './drop.ts';
import { idle } from './idle.ts';
import type { AlertKind, RuleKind } from './kind.ts';
import { lateTopUp } from './late-top-up.ts';
import { missedTopUp } from './missed-top-up.ts';
import { negative } from './negative.ts';
import { runway } from './runway.ts';
import {
  channelFailed,
  clusterChanged,
  clusterDegraded,
  configInvalid,
  providerDown,
  storageFailed,
} from './self-alert-kinds.ts';
import { stale } from './stale.ts';
import { topUp } from './top-up.ts';
import { slump, surge } from './unusual.ts';

/** In the order in which people read them. */
export const ruleKinds = [
  below,
  negative,
  runway,
  surge,
  slump,
  missedTopUp,
  lateTopUp,
  budget,
  drop,
  idle,
  topUp,
  currency,
  stale,
  authFailed,
] as const satisfies readonly RuleKind[];

const ownKinds: readonly AlertKind[] = [
  providerDown,
  storageFailed,
  channelFailed,
  configInvalid,
  clusterDegraded,
  clusterChanged,
];

export const selfAlertTypes: readonly string[] = ownKinds.map(({ type }) => type);

export type AnyRule = Parameters<(typeof ruleKinds)[number]['evaluate']>[0];

const ruleKindByType = new Map<string, RuleKind>(ruleKinds.map((kind) => [kind.type, kind]));
const alertKindByType = new Map<string, AlertKind>(
  [...ruleKinds, ...ownKinds].map((kind) => [kind.type, kind]),
);

export function kindOfRuleNamed(type: string | null): RuleKind | null {
  return ruleKindByType.get(type ?? '') ?? null;
}

export function ruleKindOf(rule: Pick<Rule, 'type'>): RuleKind {
  const kind = ruleKindByType.get(rule.type);
  if (kind === undefined) throw new Error(`no module knows rules of type ${rule.type}`);
  return kind;
}

/** A kind that only a newer lowwater knows gets plain words. */
export function alertKindOf(alert: { readonly type: string }): AlertKind {
  return alertKindByType.get(alert.type) ?? unknownKind(alert.type);
}

function unknownKind(type: string): AlertKind {
  return {
    type,
    subject: () => type,
    firing: () => `${type} fires`,
    resolved: () => `${type} is over`,
    recovery: 'Resolved.',
    figures: () => [],
    advice: () => [],
  };
}
