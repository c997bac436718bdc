import { decideTouched } from './announce.ts';
import { reviewDamagedPolls } from './damaged-polls.ts';
import { judgeElapsed } from './judge.ts';
import { reviewOutages } from './outage.ts';
import { reviewSilences } from './retract.ts';
import { type MonitorState, maxAtOnce } from './state.ts';

/**
 * The order of a turn. Before it, something came in and was taken in: `observePoll` stores a poll as a fact and judges
 * the account's rules by it, each verdict through the one door (`transition`) into its alert and incident; a person's
 * order and the end of a delivery change records likewise. Whatever that touched, the steps below bring to its end, each
 * `(state, now)`; none waits, and what they change notes itself.
 *
 * Doing it twice says nothing twice, because what was said is part of the incident.
 */
const steps = [
  /** judge, transition: what time alone changes. */
  wakeDue,
  /** cover: accounts that went stale together become one incident of their provider. */
  reviewOutages,
  /** cover, decide, queue: for each incident touched and each channel, a named reason to speak or to keep silent. */
  decideTouched,
] as const satisfies readonly ((state: MonitorState, now: number) => void)[];

export function endTurn(state: MonitorState, now: number): void {
  for (const step of steps) step(state, now);
}

function wakeDue(state: MonitorState, now: number): void {
  for (let woken = 0; woken < maxAtOnce; woken++) {
    const key = state.due.takeDue(now);
    if (key === undefined) return;
    wake(state, key, now);
  }
}

/** `silences`, `incident:<id>`, `account:<id>`, `damaged:<account>`; `touched` asks for nothing but another turn. */
function wake(state: MonitorState, key: string, now: number): void {
  const colon = key.indexOf(':');
  const kind = colon < 0 ? key : key.slice(0, colon);
  const id = key.slice(colon + 1);
  if (kind === 'silences') reviewSilences(state, now);
  if (kind === 'incident') state.touched.add(id);
  if (kind === 'damaged') reviewDamagedPolls(state, id, now);
  const account = kind === 'account' ? state.accounts.get(id) : undefined;
  if (account !== undefined) judgeElapsed(state, account, now);
}
