import { decideTouched } from './announce.ts';
import { reviewOutages } from './inhibit.ts';
import { judgeElapsed } from './judge.ts';
import { elapseSelfAlert, reviewDamagedPolls } from './self-alerts.ts';
import { reviewSilences } from './silencing.ts';
import { type MonitorState, maxAtOnce } from './state.ts';

/**
 * The order of a turn. Before it, something came in and was taken in: `observePoll` stores a poll as a fact and judges
 * the account's rules by it, each verdict through the one door (`transition`) into its alert and incident; a person's
 * order and the end of a delivery change records likewise. The steps below complete what that touched, each with
 * `(state, now)`. None waits, and the records note what they change.
 *
 * Repeating a turn notifies nobody twice, because what was notified is part of the incident.
 */
const steps = [
  /** Changes by time alone. */
  runDue,
  /** Accounts that went stale together become one incident of their provider. */
  reviewOutages,
  /** For each touched incident and channel, a named reason to notify or not. */
  decideTouched,
] as const satisfies readonly ((state: MonitorState, now: number) => void)[];

export function endTurn(state: MonitorState, now: number): void {
  for (const step of steps) step(state, now);
}

function runDue(state: MonitorState, now: number): void {
  for (let woken = 0; woken < maxAtOnce; woken++) {
    const key = state.due.takeDue(now);
    if (key === undefined) return;
    runKey(state, key, now);
  }
}

/** Does what a due key asks for; `touched` only asks for another turn. */
function runKey(state: MonitorState, key: string, now: number): void {
  const colon = key.indexOf(':');
  const kind = colon < 0 ? key : key.slice(0, colon);
  const id = key.slice(colon + 1);
  if (kind === 'silences') reviewSilences(state, now);
  if (kind === 'incident') state.touched.add(id);
  if (kind === 'self') elapseSelfAlert(state, id, now);
  if (kind === 'damaged') reviewDamagedPolls(state, id, now);
  const account = kind === 'account' ? state.accounts.get(id) : undefined;
  if (account !== undefined) judgeElapsed(state, account, now);
}
