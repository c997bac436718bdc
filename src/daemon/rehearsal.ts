import type { IncidentMessage } from '../domain/message.ts';
import { sketchIncident } from '../engine/incidents.ts';
import { factsOf, type MonitorState, type WatchedAccount } from '../engine/state.ts';
import { inactiveAlert } from '../engine/transition.ts';
import type { Channel } from '../ports/channel.ts';
import { ruleKindOf } from '../rules/registry.ts';
import { describeIncident } from './compose.ts';
import { inSlices } from './slices.ts';

/**
 * Words and renders an alert that is none for each channel, and sends it nowhere: the first real message of the process finds its code
 * compiled (`bench/alert.ts` says what that saves). What fails here fails again where it matters, and is reported there.
 */
export async function rehearse(
  state: MonitorState,
  channels: readonly Channel[],
  account: WatchedAccount,
  now: number,
): Promise<void> {
  for await (const part of inSlices(channels, 1))
    await Promise.allSettled(part.map(async (channel) => channel.preview(makeUp(state, account, now))));
}

/** As if the first rule of the account fired, with the numbers that it has now. */
function makeUp(state: MonitorState, account: WatchedAccount, now: number): IncidentMessage {
  const [rule] = account.rules;
  if (rule === undefined) throw new Error('an account without rules');
  const kind = ruleKindOf(rule);
  const known = factsOf(account, now);
  const { value, threshold } = kind.evaluate(rule, known, null);
  const facts = kind.factsBehind(rule, known);
  const { id, type, balance } = rule;
  const alert = {
    ...inactiveAlert({ account: account.id, rule: id, type, balance }),
    value,
    threshold,
    facts,
  };
  const incident = sketchIncident('', account, alert, now);
  const item = describeIncident(state, { incident, kinds: ['firing'], now });
  const { language, timezone, server } = state.settings;
  const frame = { id: '', at: now, language, timezone, publicUrl: server?.publicUrl ?? null };
  return { ...frame, kind: 'incidents', items: [item], thread: null, companions: [] };
}
