export interface Timer {
  cancel: () => void;
  dueAt: number;
  readonly fire: () => void;
}

/** A request or a message whose answer is awaited. */
export interface InFlight {
  readonly signal: AbortSignal;
  readonly abort: () => void;
}

/** One process, from its start to its end. */
export class Life {
  readonly number: number;
  readonly bornAt: number;
  dead = false;
  stopping = false;
  doom: { calls: number; readonly downMs: number } | null = null;
  commitDoom: { readonly when: 'before' | 'after'; readonly downMs: number } | null = null;
  readonly timers = new Set<Timer>();
  readonly flights = new Set<InFlight>();

  constructor(number: number, bornAt: number) {
    this.number = number;
    this.bornAt = bornAt;
  }
}
