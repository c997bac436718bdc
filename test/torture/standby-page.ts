import { createStandbyViews, type StandbyViews } from '../../src/cluster/standby-views.ts';
import { Counting } from '../../src/daemon/counting.ts';

type Parts = Parameters<typeof createStandbyViews>[0];

const silent = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };

/** The page of a daemon that stands by, opened once in a process: most stories never look at it. */
export function openStandbyPage(parts: Omit<Parts, 'status' | 'counters'>): () => Promise<StandbyViews> {
  let page: Promise<StandbyViews> | null = null;
  const status = () => ({
    ...{ version: '1.0.0', startedAt: 0, ready: true, problems: [] },
    ...{ configLoadedAt: 0, configReloadOk: true },
  });
  return () => {
    page ??= createStandbyViews({ ...parts, status, counters: new Counting(silent) });
    return page;
  };
}
