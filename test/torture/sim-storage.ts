import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { StorageError } from '../../src/domain/operator-error.ts';
import type { LeftOrder } from '../../src/ports/store.ts';
import { readMigrations } from '../../src/store/migrations.ts';
import { type Connection, connectForWriting } from '../../src/store/sqlite/connection.ts';
import { migrate } from '../../src/store/sqlite/migrate.ts';
import type { SqliteStore } from '../../src/store/sqlite/port.ts';
import { createStore } from '../../src/store/sqlite/store.ts';
import { leaveOrder } from '../../src/store/store.ts';
import type { DamagedSource, StorageFault } from './scenario.ts';

const program = 'lowwater 1.0.0';
const migrations = readMigrations();
/** A new database is the same for every run; making it once saves a third of a short one's time. */
let blank: Buffer | null = null;

/** The disk of the simulated machine: it outlives processes, may fill up, and may be set back to a backup. */
export interface SimStorage {
  /** What a process that starts now finds. A killed one loses everything that it had not committed. */
  open(now: () => number): SqliteStore;
  fault: StorageFault | null;
  setFault(fault: StorageFault | null): void;
  /** The server that processes share, and another one in its place, while they run; null where they share none. */
  readonly servers: {
    copy(): StoredServer;
    leadTo(server: StoredServer): void;
  } | null;
  backup(): void;
  /** Puts the last backup in the place of the database; false when there is none. Only while no process runs. */
  restore(): boolean;
  /** Damages one of the records that the next daemon goes on from. Gives its name; null where there is none, or none can be written. */
  damage(source: DamagedSource, place: number): string | null;
  /** Where the command line can leave an order; null in memory. */
  readonly leaveOrder: ((order: LeftOrder) => void) | null;
  bytes(): Buffer;
  close(): void;
}

/** The database of a server. */
export type StoredServer = Connection;

export function openStorage(kind: 'memory' | 'file', now: number): SimStorage {
  return kind === 'memory' ? new MemoryStorage(now) : new FileStorage(now);
}

class MemoryStorage implements SimStorage {
  readonly #damaged = new Set<string>();
  fault: StorageFault | null = null;
  readonly leaveOrder = null;
  #db: Connection;
  #backup: Buffer | null = null;

  constructor(now: number) {
    blank ??= makeBlank(now);
    this.#db = new Database(Buffer.from(blank));
  }

  open(now: () => number): SqliteStore {
    applyFault(this.#db, this.fault);
    let db = this.#db;
    const openHere = (): SqliteStore => ({
      ...withFault(createStore({ db, path: 'memory', now }), this),
      // Nobody else can write what is in memory, so nobody can have left an order.
      takeOrders: () => [],
    });
    let store = openHere();
    // A store that is open goes to the server that is the present one by then.
    return new Proxy(store, {
      get: (_, name) => {
        if (db !== this.#db) {
          db = this.#db;
          store = openHere();
        }
        return Reflect.get(store, name);
      },
    });
  }

  readonly servers = {
    copy: (): Connection => new Database(this.#db.serialize()),
    leadTo: (server: Connection): void => {
      this.#db = server;
      applyFault(server, this.fault);
    },
  };

  setFault(fault: StorageFault | null): void {
    this.fault = fault;
    applyFault(this.#db, fault);
  }

  damage(source: DamagedSource, place: number): string | null {
    return this.fault === null ? damageRecord(this.#db, { source, place, damaged: this.#damaged }) : null;
  }

  backup(): void {
    this.#backup = this.#db.serialize();
  }

  restore(): boolean {
    if (this.#backup === null) return false;
    this.#db.close();
    this.#db = new Database(Buffer.from(this.#backup));
    return true;
  }

  bytes(): Buffer {
    return this.#db.serialize();
  }

  close(): void {
    this.#db.close();
  }
}

class FileStorage implements SimStorage {
  readonly #damaged = new Set<string>();
  fault: StorageFault | null = null;
  readonly servers = null;
  readonly #directory: string;
  #path: string;
  #db: Connection | null = null;
  #generation = 0;
  #mayHaveOrders = true;
  #backup: string | null = null;

  constructor(now: number) {
    const root = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
    this.#directory = mkdtempSync(join(root, 'lowwater-torture-'));
    this.#path = this.#nextPath();
    const db = connectForWriting(this.#path);
    migrate({ db, path: this.#path, migrations, program, now });
    this.#db = db;
  }

  /** As after `kill -9`: the new process finds a copy of the files as they lie there, write-ahead log included. */
  open(now: () => number): SqliteStore {
    const before = this.#path;
    this.#path = this.#nextPath();
    copyFileSync(before, this.#path);
    if (existsSync(`${before}-wal`)) copyFileSync(`${before}-wal`, `${this.#path}-wal`);
    this.#db?.close();
    this.#db = connectForWriting(this.#path);
    applyFault(this.#db, this.fault);
    for (const end of ['', '-wal', '-shm']) rmSync(before + end, { force: true });
    const store = createStore({ db: this.#db, path: this.#path, now });
    this.#mayHaveOrders = true;
    return { ...withFault(store, this), takeOrders: () => this.#takeOrders(store) };
  }

  /** A daemon looks for orders all the time, and nobody else leaves any. */
  #takeOrders(store: SqliteStore): readonly LeftOrder[] {
    if (!this.#mayHaveOrders) return [];
    this.#mayHaveOrders = false;
    return store.takeOrders();
  }

  setFault(fault: StorageFault | null): void {
    this.fault = fault;
    if (this.#db !== null) applyFault(this.#db, fault);
  }

  leaveOrder = (order: LeftOrder): void => {
    leaveOrder(this.#path, order);
    this.#mayHaveOrders = true;
  };

  damage(source: DamagedSource, place: number): string | null {
    return this.fault === null && this.#db !== null
      ? damageRecord(this.#db, { source, place, damaged: this.#damaged })
      : null;
  }

  backup(): void {
    this.#backup = join(this.#directory, `backup-${this.#generation}`);
    rmSync(this.#backup, { force: true });
    if (this.#db === null) return;
    // Whoever backs up writes to another place.
    applyFault(this.#db, null);
    this.#db.prepare('VACUUM INTO ?').run(this.#backup);
    applyFault(this.#db, this.fault);
  }

  restore(): boolean {
    if (this.#backup === null) return false;
    this.#db?.close();
    this.#db = null;
    for (const end of ['', '-wal', '-shm']) rmSync(this.#path + end, { force: true });
    copyFileSync(this.#backup, this.#path);
    return true;
  }

  bytes(): Buffer {
    return this.#db?.serialize() ?? Buffer.alloc(0);
  }

  close(): void {
    this.#db?.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #nextPath(): string {
    this.#generation++;
    return join(this.#directory, `lowwater-${this.#generation}.db`);
  }
}

function makeBlank(now: number): Buffer {
  const db = new Database(':memory:');
  migrate({ db, path: 'memory', migrations, program, now });
  const bytes = db.serialize();
  db.close();
  return bytes;
}

const records: Readonly<Record<DamagedSource, { readonly name: string; readonly where: string }>> = {
  alert: { name: "account || '/' || rule", where: "account NOT LIKE '@%'" },
  incident: { name: 'id', where: "account NOT LIKE '@%' AND ended_at IS NULL" },
  message: { name: 'id', where: "state = 'pending'" },
};

/** An incident is damaged once in its life: how many keys it has at tools is known no more after that. */
function damageRecord(
  db: Connection,
  it: { readonly source: DamagedSource; readonly place: number; readonly damaged: Set<string> },
): string | null {
  const { source, place, damaged } = it;
  const { name, where } = records[source];
  const names = db
    .prepare<[], string>(`SELECT ${name} FROM ${source} WHERE ${where} ORDER BY 1`)
    .pluck()
    .all()
    .filter((each) => source !== 'incident' || !damaged.has(each));
  const struck = names[place % Math.max(1, names.length)];
  if (struck === undefined) return null;
  damaged.add(struck);
  db.prepare(`UPDATE ${source} SET body = substr(body, 1, length(body) / 2) WHERE ${name} = ?`).run(struck);
  return `${source} ${struck}`;
}

function applyFault(db: Connection, fault: StorageFault | null): void {
  const pages = db.pragma('page_count', { simple: true });
  db.pragma(fault === 'full' ? `max_page_count = ${pages}` : 'max_page_count = 1000000');
  db.pragma(fault === 'read-only' ? 'query_only = ON' : 'query_only = OFF');
}

/** Another process keeps the database locked: what SQLite says after its patience of seconds, said at once. */
function withFault(store: SqliteStore, storage: { readonly fault: StorageFault | null }): SqliteStore {
  const refuse = (): void => {
    if (storage.fault === 'busy') throw new StorageError('busy', 'simulated: the database is locked');
  };
  return {
    ...store,
    commit(batch) {
      refuse();
      store.commit(batch);
    },
    prune(olderThan) {
      refuse();
      return store.prune(olderThan);
    },
  };
}
