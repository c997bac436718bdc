/** A stream of numbers that a seed decides. Streams of one seed with different names do not influence one another. */
export class Seeded {
  #state: number;

  constructor(seed: number, name: string) {
    this.#state = mix(seed >>> 0, hashText(name));
  }

  /** In [0, 1). */
  fraction(): number {
    // mulberry32: small, fast, and good enough to draw faults from.
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    return scramble(this.#state) / 0x1_0000_0000;
  }

  /** Whole, from `low` to `high`, both included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.fraction() * (high - low + 1));
  }

  chance(share: number): boolean {
    return this.fraction() < share;
  }

  pick<T>(from: readonly T[]): T {
    const chosen = from[this.int(0, from.length - 1)];
    if (chosen === undefined) throw new Error('nothing to pick from');
    return chosen;
  }

  /** Each with the given chance, in order. */
  some<T>(from: readonly T[], share: number): T[] {
    return from.filter(() => this.chance(share));
  }

  /** At least one of them. */
  atLeastOne<T>(from: readonly T[], share: number): T[] {
    const chosen = this.some(from, share);
    return chosen.length > 0 ? chosen : [this.pick(from)];
  }

  /** Like life: mostly near `low`, seldom near `high`. */
  skewed(low: number, high: number): number {
    return Math.round(low * (high / low) ** this.fraction());
  }
}

/** A number in [0, 1) that depends on its arguments alone: the same question gets the same answer in every run. */
export function chanceOf(seed: number, ...parts: readonly number[]): number {
  let state = seed >>> 0;
  for (const part of parts) state = mix(state, part >>> 0);
  return scramble(state) / 0x1_0000_0000;
}

export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let place = 0; place < text.length; place++) {
    hash = Math.imul(hash ^ text.charCodeAt(place), 0x01000193) >>> 0;
  }
  return hash;
}

export function mix(state: number, value: number): number {
  return scramble((Math.imul(state, 31) + value + 0x9e3779b9) >>> 0);
}

function scramble(state: number): number {
  let value = state;
  value = Math.imul(value ^ (value >>> 15), value | 1);
  value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
  return (value ^ (value >>> 14)) >>> 0;
}
