import { queueOf } from './queue.ts';
import { scheduleSilences } from './silencing.ts';
import type { MonitorState } from './state.ts';
import { takeBackMuted } from './take-back.ts';

/** A silence began or ended: everything that it may have muted is decided on again. */
export function reviewSilences(state: MonitorState, now: number): void {
  for (const channel of [...state.queues.keys()])
    for (const message of queueOf(state, channel)) takeBackMuted(state, message, now);
  for (const id of state.incidents.keys()) state.touched.add(id);
  scheduleSilences(state, now);
}
