import type { Delivery } from '../../src/ports/channel.ts';
import type { Send } from './observer.ts';

/** The test alerts that receivers were shown: each that began there has to end there. */
export class Tests {
  /** By channel and incident. */
  readonly #open = new Set<string>();

  isOf({ message }: Pick<Send, 'message'>): boolean {
    return message.kind === 'incidents' && message.items.some(({ incident }) => incident.test !== undefined);
  }

  arrived(send: Send): void {
    for (const [key, isOver] of keysOf(send))
      if (isOver) this.#open.delete(key);
      else this.#open.add(key);
  }

  /** Nobody is owed the end that a receiver refuses for good. */
  answered(send: Send, { kind }: Delivery): void {
    if (kind !== 'dead') return;
    for (const [key, isOver] of keysOf(send)) if (isOver) this.#open.delete(key);
  }

  get open(): readonly string[] {
    return [...this.#open];
  }
}

function keysOf({ channel, message }: Send): readonly (readonly [string, boolean])[] {
  if (message.kind !== 'incidents') return [];
  return message.items.map(({ incident, kinds }) => [
    `${channel}/${incident.id}`,
    kinds.includes('resolved'),
  ]);
}
