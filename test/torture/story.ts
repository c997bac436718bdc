import { mix } from './seeded.ts';

/** An invariant that did not hold. Ends the run. */
export class Violation extends Error {
  readonly rule: string;

  constructor(rule: string, message: string) {
    super(message);
    this.name = 'Violation';
    this.rule = rule;
  }
}

/** What happened, for people; and a number that two runs share only if the same happened in both. */
export class Story {
  readonly #lines: string[] = [];
  readonly #notified: boolean;
  readonly #now: () => number;
  #hash = 0;

  constructor(options: { readonly notified: boolean; readonly now: () => number }) {
    this.#notified = options.notified;
    this.#now = options.now;
  }

  get hash(): number {
    return this.#hash;
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** `what` stands for the event in the hash; the words are made only when somebody will read them. */
  note(what: number, words: () => string): void {
    this.#hash = mix(mix(this.#hash, this.#now()), what);
    if (this.#notified) this.#lines.push(`${stamp(this.#now())}  ${words()}`);
  }
}

function stamp(ms: number): string {
  const days = Math.floor(ms / 86_400_000);
  const clock = new Date(ms - days * 86_400_000).toISOString().slice(11, 23);
  return `day ${String(days).padStart(3)} ${clock}`;
}
