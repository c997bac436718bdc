import type { SimCluster, SimServer } from '../support/sim-cluster.ts';
import type { SimStorage, StoredServer } from './sim-storage.ts';

interface Server {
  readonly shared: SimServer;
  readonly stored: StoredServer;
}

/** The servers behind the address of the shared database: the one in use, and a replica of it that fell behind. */
export class Servers {
  readonly #shared: SimCluster;
  readonly #storage: NonNullable<SimStorage['servers']>;
  #timelines = 1;
  #replica: Server | null = null;

  constructor(shared: SimCluster, storage: NonNullable<SimStorage['servers']>) {
    this.#shared = shared;
    this.#storage = storage;
  }

  /** The replica hears nothing from here on. */
  cutReplica(): void {
    this.#replica = { shared: this.#shared.replicate(++this.#timelines), stored: this.#storage.copy() };
  }

  /** The replica takes the place of the server; false where there is none. */
  promote(): boolean {
    const replica = this.#replica;
    if (replica === null) return false;
    this.#replica = null;
    this.#shared.leadTo(replica.shared);
    this.#storage.leadTo(replica.stored);
    return true;
  }
}
