import type { Incident } from '../../../src/domain/alert.ts';
import { channelFailed, channelFailedRule } from '../../../src/rules/self-alert-kinds.ts';
import { DurableMap } from './durable-map.ts';

/** The receivers that were removed from the configuration, as the database knows them. */
export class LeftReceivers {
  /** Since when each has been removed. */
  readonly since = new Map<string, number>();
  readonly #configured = new DurableMap<true>();
  /** When people were last notified that a removed receiver may not know of the end of its incidents. */
  readonly #named = new DurableMap<number>();
  readonly #stored = [this.#configured, this.#named] as const;
  readonly #seen = new Set<string>();
  /** When each was added to the configuration in force, or removed from it. */
  readonly #movedAt = new Map<string, number>();
  #known: ReadonlySet<string> = new Set();

  /** Applies the channels that are in force now. Returns those that came back before their removal was stored. */
  configured(names: readonly string[], at: number): readonly string[] {
    const came = names.filter((name) => !this.#configured.has(name) && this.#known.has(name));
    for (const name of [...this.#configured.keys()]) if (!names.includes(name)) this.#move(name, at);
    for (const name of names) if (!this.#configured.has(name)) this.#move(name, at);
    return came;
  }

  followed({ id, event, type, rule }: Incident, at: number): void {
    if (!event || type !== channelFailed.type || this.#seen.has(id)) return;
    this.#seen.add(id);
    this.#named.set(rule.slice(channelFailedRule('').length), at);
  }

  taken(): void {
    for (const map of this.#stored) map.take();
  }

  /** Returns the channels whose coming or going is stored now, and those that may go on showing for good what they showed before. */
  committed(): { readonly moved: ReadonlyMap<string, number>; readonly excused: readonly string[] } {
    const named = new Map(this.#named.entries());
    const isFresh = (name: string): boolean => this.#named.stored(name) !== named.get(name);
    const fresh = [...named.keys()].filter(isFresh);
    for (const map of this.#stored) map.commit();
    const before = this.#known;
    const all = new Set([...before, ...this.#configured.keys()]);
    this.#known = new Set([...all].filter((name) => this.#configured.stored(name) !== undefined));
    const moved = [...all].filter((name) => before.has(name) !== this.#known.has(name));
    const isBack = (name: string): boolean => this.#known.has(name);
    const excused = moved.filter((name) => isBack(name) && this.isNamed(name));
    for (const name of moved)
      if (isBack(name)) this.since.delete(name);
      else this.since.set(name, this.#movedAt.get(name) ?? 0);
    const when = new Map(moved.map((name) => [name, this.#movedAt.get(name) ?? 0]));
    return { moved: when, excused: [...excused, ...fresh.filter(isBack)] };
  }

  died(): void {
    for (const map of this.#stored) map.crash();
  }

  /** Nobody knows which receivers an older database had notified. */
  restored(): void {
    this.since.clear();
  }

  isNamed(channel: string): boolean {
    return (this.#named.get(channel) ?? Number.NEGATIVE_INFINITY) >= (this.since.get(channel) ?? 0);
  }

  #move(name: string, at: number): void {
    this.#movedAt.set(name, at);
    if (this.#configured.has(name)) this.#configured.delete(name);
    else this.#configured.set(name, true);
  }
}
