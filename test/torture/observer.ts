import type { Daemon } from '../../src/daemon/daemon.ts';
import type { Message } from '../../src/domain/message.ts';
import type { Outcome } from '../../src/domain/reading.ts';
import type { AccountSettings } from '../../src/domain/settings.ts';
import type { Delivery } from '../../src/ports/channel.ts';
import type { Batch, DamagedRecord } from '../../src/ports/store.ts';
import type { SqliteStore } from '../../src/store/sqlite/port.ts';

/** One message on its way from a process to a channel. */
export interface Send {
  readonly channel: string;
  /** Of the channel. */
  readonly type: string;
  readonly message: Message;
  /** Who of its recipients, or which of its parts, does not get it now, while the others do. */
  readonly missed: readonly string[];
  readonly at: number;
  readonly process: number;
  /** To a receiver that the configuration has no more: no outbox knows of it. */
  readonly isFarewell: boolean;
  /** What fires, sent again to a receiver that forgets it: no outbox knows of that either. */
  readonly isRound: boolean;
  /** Nobody else can take the accounts before the sender has stored what it tells, as far as it can know. */
  readonly mayBeUnstored: boolean;
}

/** Who watches the run: the model. Instants are of the simulation. */
export interface Observer {
  /** `lost`: what it found damaged, or found to be told of. */
  booted(daemon: Daemon, store: SqliteStore, lost: readonly DamagedRecord[]): void;
  /** The process is about to end, between two turns or in the middle of one. */
  dying(): void;
  /** The process is gone, with all that it had in memory. `clean`: it was told to stop and did. */
  died(clean: boolean): void;
  /** The heartbeat went out. */
  pinged(): void;
  /** Messages that are due wait until the daemon is sure again that it has the accounts. */
  heldBack(): void;
  /** A daemon acts, or writes, though another has the accounts. */
  trespassed(what: string): void;
  /** `mayBeUnstored` as of a message that is sent. */
  pollBegan(account: string, mayBeUnstored: boolean): void;
  /** An answer reaches the process, which takes it in before anything else happens. */
  pollEnded(asked: AccountSettings, outcome: Outcome): void;
  beforeCommit(batch: Batch): void;
  committed(batch: Batch, stored: boolean): void;
  /** The process did not hear of a commit that was stored, or hears of it only now. */
  commitAnswered(heard: boolean): void;
  sending(send: Send): void;
  arrived(send: Send): void;
  answered(send: Send, delivery: Delivery): void;
  /** The daemon said that its clock jumped. */
  jumped(byMs: number): void;
  logged(level: string, fields: object, message: string): void;
}
