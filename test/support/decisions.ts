import type { Incident, LastNotified } from '../../src/domain/alert.ts';
import { type ChannelPlan, decide, type Suppression } from '../../src/engine/decide.ts';
import { incident, notified } from './incidents.ts';

export const minute = 60_000;
export const now = 1_000 * minute;

export const direct: ChannelPlan = {
  channel: 'ops',
  direct: true,
  repeatEveryMs: 240 * minute,
  escalateAfterMs: null,
  groupWaitMs: 5000,
};
export const escalating: ChannelPlan = { ...direct, escalateAfterMs: 30 * minute };
export const boss: ChannelPlan = { ...escalating, direct: false };
export const notifiedBefore: ChannelPlan = { ...direct, direct: false, repeatEveryMs: null };
export const free: Suppression = {
  silenced: false,
  inhibited: false,
  pausedUntil: null,
  channelFailedUntil: null,
};

export const open = incident({
  severity: 'warning',
  firedAt: now - 60 * minute,
  escalationSince: now - 60 * minute,
});
export const fresh = incident({ severity: 'warning', firedAt: now, escalationSince: now });
export const ended: Incident = { ...open, resolvedAt: now, resolution: { kind: 'recovered' } };
export const event: Incident = { ...fresh, event: true };
export const flapping: Incident = { ...open, flappingSince: now };
export const recently = notified({ at: now - minute, severity: 'warning' });
export const longAgo = notified({ at: now - 300 * minute, severity: 'warning' });

export function acknowledged(
  it: Incident,
  over: Partial<NonNullable<Incident['acknowledgement']>> = {},
): Incident {
  const { severity, rises } = it;
  return { ...it, acknowledgement: { at: now, by: 'ana', comment: '', severity, rises, ...over } };
}

export interface Row {
  readonly name: string;
  readonly incident: Incident;
  readonly plan?: ChannelPlan;
  readonly notified?: LastNotified | null;
  readonly suppression?: Partial<Suppression>;
  readonly waiting?: boolean;
  readonly endsEarlier?: boolean;
  readonly expected: string;
}

/** "notify firing", "quiet: not due until 60000", counted from now. */
export function decided(row: Row): string {
  const { plan = direct, suppression = {}, waiting = false } = row;
  const decision = decide({
    incident: row.incident,
    plan,
    notified: row.notified ?? null,
    suppression: { ...free, ...suppression },
    waiting: () => waiting,
    endsEarlier: row.endsEarlier ?? false,
    now,
  });
  if (decision.kind === 'notify') return `notify ${decision.item}`;
  return `quiet: ${decision.why}${decision.until === null ? '' : ` until ${decision.until - now}`}`;
}
