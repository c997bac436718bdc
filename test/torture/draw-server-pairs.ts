import type { Frame, Scene } from './pair-frame.ts';
import { type Happening, hourMs, minuteMs } from './scenario.ts';
import type { Seeded } from './seeded.ts';

/** Faults of the server behind a shared database, for daemons with no other faults: all that is lost with an owner that dies then is lost. */
export const serverPairs = [
  'fail-over × hand-over',
  'fail-over × ordered',
  'full × look at standby',
  'slow × look at standby',
] as const;
export type ServerPair = (typeof serverPairs)[number];

const frame: Frame = { nodes: [2, 3, 3], isUndisturbed: true };
export const serverFrames: Readonly<Record<ServerPair, Frame>> = {
  'fail-over × hand-over': frame,
  'fail-over × ordered': frame,
  'full × look at standby': frame,
  'slow × look at standby': frame,
};

/** By then a hand-over is through, and what a server lacked is stored there again, where leases go as slowly as in the simulation. */
const settledMs = 12 * minuteMs;

/** The event that meets the rest of its pair, once. */
export function drawServers(from: Seeded, pair: ServerPair, { settings, at, until }: Scene): Happening[] {
  const account = from.pick(settings.accounts).id;
  const server = (on: number, what: Extract<Happening, { kind: 'server' }>['what']): Happening => ({
    ...{ at: on, kind: 'server', what },
  });
  const handOver = (on: number): Happening => ({ at: on, kind: 'hand over' });
  const atStandby = (on: number): Happening => ({
    ...{ at: on, kind: 'order at standby', what: from.pick(['take', 'quiet', 'run']), place: from.int(0, 2) },
  });
  const looks = (count: number, withinMs: number): Happening[] =>
    Array.from({ length: count }, () => ({ at: at + from.int(0, withinMs), kind: 'look at standby' }));
  switch (pair) {
    case 'fail-over × hand-over': {
      const failsAt = at + from.int(2 * settledMs, 3 * settledMs);
      const match = { account: [account] };
      const forMs = from.skewed(hourMs, 12 * hourMs);
      const between = (): number => from.int(at - 5 * minuteMs, failsAt);
      const drawn: Happening[] = [
        { at: at - 6 * minuteMs, kind: 'silence', match, forMs, byOrder: false },
        server(at, 'replica cut'),
        ...from.some<Happening>([{ at: between(), kind: 'expire', place: from.int(0, 1) }], 0.8),
        ...from.some<Happening>(
          [{ at: between(), kind: 'acknowledge', place: 0, byOrder: false, alone: true }],
          0.6,
        ),
        ...from.some<Happening>(
          [{ at: between(), kind: 'undo', what: 'release', place: 0, byOrder: false }],
          0.3,
        ),
        ...from.some([handOver(at + from.int(1, failsAt - at - settledMs))], 0.8),
        server(failsAt, 'fail over'),
        handOver(failsAt + from.int(settledMs, 2 * settledMs)),
      ];
      return drawn.filter((it) => it.at >= 0 && it.at < until - settledMs);
    }
    case 'fail-over × ordered': {
      const failsAt = at + from.int(1, settledMs);
      const between = (): number => from.int(at - 5 * minuteMs, failsAt - 1);
      const amountMicros = from.pick([150, 400]) * 1_000_000;
      const match = { account: [account] };
      const named = { account, amountMicros, forMs: from.skewed(2 * hourMs, 12 * hourMs), byOrder: false };
      const undo = (what: 'extend' | 'cancel'): Happening => ({
        ...{ at: between(), kind: 'undo', what, place: 0, byOrder: false },
      });
      const drawn: Happening[] = [
        { at: at - 6 * minuteMs, kind: 'ordered', ...named },
        { at: at - 6 * minuteMs, kind: 'silence', match, forMs: hourMs, byOrder: false },
        server(at, 'replica cut'),
        ...from.some([undo('cancel')], 0.6),
        ...from.some([undo('extend')], 0.6),
        ...from.some<Happening>([{ at: between(), kind: 'ordered', ...named }], 0.4),
        ...from.some<Happening>([{ at: between(), kind: 'announced', ...named }], 0.6),
        server(failsAt, 'fail over'),
        handOver(failsAt + from.int(settledMs, 2 * settledMs)),
        // Perhaps before the owner has taken it.
        atStandby(failsAt - from.int(1, 1500)),
      ];
      return drawn.filter((it) => it.at >= 0 && it.at < until - settledMs);
    }
    case 'full × look at standby': {
      const forMs = from.skewed(minuteMs, 3 * hourMs);
      const fault = from.pick(['full', 'full', 'busy', 'read-only'] as const);
      return [{ at, kind: 'storage', fault, forMs }, ...looks(12, forMs + hourMs)];
    }
    case 'slow × look at standby': {
      const fault = from.pick(['slow', 'slow', 'cut'] as const);
      return [
        { at, kind: 'line', fault, everyone: true, forMs: from.skewed(5000, 3 * minuteMs) },
        ...looks(40, 40 * minuteMs),
      ];
    }
  }
}
