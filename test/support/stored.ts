import type { MonitorState } from '../../src/engine/state.ts';

export function isAllStored({ polls, polled, spending, otherChanges }: MonitorState): boolean {
  return [polls, polled.unsaved, spending.unsaved, ...otherChanges].every((part) => part.unstored === 0);
}
