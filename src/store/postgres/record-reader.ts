import type { Alert, Incident } from '../../domain/alert.ts';
import { StorageError } from '../../domain/operator-error.ts';
import type { Notification } from '../../domain/outbox.ts';
import type { AccountState } from '../../domain/reading.ts';
import type { Silence } from '../../domain/route.ts';
import type { LoadOptions } from '../../ports/cluster.ts';
import type {
  DamagedRun,
  GroupBackoff,
  StoredSpending,
  StoredState,
  StoreReader,
} from '../../ports/store.ts';
import { accountFromBody, type StoredAccount } from '../bodies.ts';
import { textArray } from './binary-array.ts';
import type { Ask, Database, Value } from './connection.ts';
import { type BodyRow, RecordSieve, readIncidents } from './record-sieve.ts';

/** So many rows are asked for at once: a few megabytes, well within the time that a statement may take … */
const pageRows = 2000;
/** … and where the server is too busy for that, a quarter each time, but no fewer than these. */
const leastRows = 30;

/** One moment of everything that a daemon goes on from; silences that were over at `now` are left out. And what is asked by itself. */
type RecordReader = Pick<StoreReader, 'incidents' | 'incident' | 'silences'> & {
  load(now: number): Promise<StoredState>;
  /** As `load`, for the owner, beside whom nobody writes: a page that fails is asked for again, and the pages before it stay. */
  loadOwned(now: number, options: LoadOptions): Promise<StoredState>;
  messages(limit: number, before: number): Promise<readonly Notification[]>;
};

const findIncidents = `SELECT id AS key, body FROM incident
  WHERE ($1::text IS NULL OR account = $1) AND ($2::text IS NULL OR rule = $2)
    AND ($3::bigint IS NULL OR fired_at < $3)
    AND ($4::bigint IS NULL OR ended_at IS NULL OR ended_at > $4 OR fired_at >= $4)
  ORDER BY fired_at DESC, no DESC LIMIT $5`;
const findSilences = 'SELECT id AS key, body FROM silence WHERE ends_at > $1 ORDER BY ends_at, id';

/** Records that cannot be read are left out, and named in `damagedRecords` of what is loaded. */
export function openRecordReader({ ask, snapshot }: Database): RecordReader {
  const once: LoadOptions = { goOn: async () => false, isLenient: false };
  return {
    load: (now) => snapshot((asked) => new Loading(asked, once).all(now)),
    loadOwned: (now, options) => new Loading(ask, options).all(now),
    async incidents({ account, rule, since, until, limit }) {
      const values = [account, rule, until, since].map((value) => value ?? null);
      // The end is exclusive, so that what has no length, such as an event, is found by its beginning.
      return readIncidents(await ask<BodyRow>(findIncidents, [...values, limit ?? null]));
    },
    async incident(id) {
      const [found] = readIncidents(
        await ask<BodyRow>('SELECT id AS key, body FROM incident WHERE id = $1', [id]),
      );
      return found ?? null;
    },
    silences: async (notOverAt) =>
      new RecordSieve().parse<Silence>('silence', await ask<BodyRow>(findSilences, [notOverAt])),
    async messages(limit, before) {
      const newest =
        'SELECT id AS key, body FROM message WHERE created_at < $1 ORDER BY created_at DESC, no DESC LIMIT $2';
      return new RecordSieve().parse<Notification>('message', await ask<BodyRow>(newest, [before, limit]));
    },
  };
}

type IncidentRow = BodyRow & { readonly firedAt: number; readonly no: number };

/** One reading of everything, a page at a time. */
class Loading {
  readonly #ask: Ask;
  readonly #options: LoadOptions;
  readonly #sieve = new RecordSieve();

  constructor(ask: Ask, options: LoadOptions) {
    this.#ask = ask;
    this.#options = options;
  }

  async all(now: number): Promise<StoredState> {
    const accounts = await this.#part('account', () => this.#accounts());
    const spending = await this.#part('spending', () => this.#spending());
    const backoffs = await this.#part('backoff', () =>
      this.#bodies<GroupBackoff>('backoff', 'SELECT group_key AS key, body FROM backoff ORDER BY group_key'),
    );
    const alerts = await this.#part('alert', () => this.#alerts());
    const messages = await this.#part('message', () =>
      this.#bodies<Notification>(
        'message',
        "SELECT id AS key, body FROM message WHERE state = 'pending' ORDER BY created_at, no",
      ),
    );
    const incidents = await this.#part('incident', () => this.#incidents(messages));
    const silences = await this.#part('silence', () => this.#bodies<Silence>('silence', findSilences, [now]));
    const notes = await this.#part('note', () =>
      this.#patiently<{ name: string; value: string }>(
        "SELECT name, value FROM note WHERE name NOT LIKE '@%'",
      ),
    );
    const damaged = await this.#part('damaged_run', () =>
      this.#patiently<DamagedRun>(
        `SELECT account, earliest_at AS "earliestAt", latest_at AS "latestAt", polls, found_at AS "foundAt"
         FROM damaged_run ORDER BY no`,
      ),
    );
    return {
      accounts,
      spending,
      backoffs,
      alerts,
      incidents,
      messages,
      silences,
      notes: Object.fromEntries(notes.map(({ name, value }) => [name, value])),
      damaged,
      ...(this.#sieve.damaged.length === 0 ? {} : { damagedRecords: this.#sieve.damaged }),
    };
  }

  /** What of a table cannot be read at all is nothing to who is lenient. */
  async #part<T>(source: string, read: () => Promise<readonly T[]>): Promise<readonly T[]> {
    try {
      return await read();
    } catch (error) {
      if (!this.#options.isLenient || !(error instanceof StorageError)) throw error;
      this.#sieve.damaged.push({ source, key: '', second: null, body: null, reason: error.message });
      return [];
    }
  }

  /** Asks again as long as that may help; `limit` is the last parameter, where there is one. */
  async #patiently<Row>(
    text: string,
    values: readonly Value[] = [],
    limit?: { rows: number },
  ): Promise<readonly Row[]> {
    for (;;) {
      try {
        return await this.#ask<Row>(text, limit === undefined ? values : [...values, limit.rows]);
      } catch (error) {
        if (!(error instanceof StorageError) || error.kind === 'corrupt' || error.kind === 'unfit')
          throw error;
        if (!(await this.#options.goOn())) throw error;
        if (limit !== undefined) limit.rows = Math.max(leastRows, Math.floor(limit.rows / 4));
      }
    }
  }

  async #bodies<T extends object>(
    source: string,
    text: string,
    values?: readonly Value[],
  ): Promise<readonly T[]> {
    return this.#sieve.parse<T>(source, await this.#patiently<BodyRow>(text, values));
  }

  /** `after` gives from the last row of a page what the next one begins after. */
  async #pages<Row>(
    text: string,
    first: readonly Value[],
    after: (row: Row) => readonly Value[],
  ): Promise<readonly Row[]> {
    const rows: Row[] = [];
    const limit = { rows: pageRows };
    let from = first;
    for (;;) {
      const page = await this.#patiently<Row>(text, from, limit);
      for (const row of page) rows.push(row);
      const last = page.at(-1);
      if (last === undefined || page.length < limit.rows) return rows;
      from = after(last);
    }
  }

  async #accounts(): Promise<readonly AccountState[]> {
    const rows = await this.#pages<BodyRow & { readonly no: number }>(
      'SELECT no, id AS key, body FROM account WHERE body IS NOT NULL AND no > $1 ORDER BY no LIMIT $2',
      [0],
      ({ no }) => [no],
    );
    return this.#sieve.parse<StoredAccount>('account', rows).map(accountFromBody);
  }

  async #spending(): Promise<readonly StoredSpending[]> {
    const rows = await this.#pages<StoredSpending & { readonly no: number }>(
      `SELECT no, id AS account, state AS bytes FROM spending JOIN account ON no = account_no
       WHERE body IS NOT NULL AND account_no > $1 ORDER BY account_no LIMIT $2`,
      [0],
      ({ no }) => [no],
    );
    return rows.map(({ account, bytes }) => ({ account, bytes }));
  }

  async #alerts(): Promise<readonly Alert[]> {
    const rows = await this.#pages<BodyRow>(
      `SELECT account AS key, rule AS second, body FROM alert
       WHERE (account, rule) > ($1, $2) ORDER BY account, rule LIMIT $3`,
      ['', ''],
      ({ key, second = '' }) => [key, second],
    );
    return this.#sieve.parse<Alert>('alert', rows);
  }

  /** What is not settled, by its own index, and what is settled but for a message that waits. */
  async #incidents(pending: readonly Notification[]): Promise<readonly Incident[]> {
    const unsettled = await this.#pages<IncidentRow>(
      `SELECT fired_at AS "firedAt", no, id AS key, body FROM incident
       WHERE settled = 0 AND (fired_at, no) > ($1, $2) ORDER BY fired_at, no LIMIT $3`,
      [Number.MIN_SAFE_INTEGER, 0],
      ({ firedAt, no }) => [firedAt, no],
    );
    const named = new Set(pending.flatMap(({ items }) => items.map(({ incident }) => incident)));
    const spokenOf = await this.#patiently<IncidentRow>(
      'SELECT fired_at AS "firedAt", no, id AS key, body FROM incident WHERE settled = 1 AND id = ANY($1::text[])',
      [textArray([...named])],
    );
    const rows = [...unsettled, ...spokenOf].sort(
      (left, right) => left.firedAt - right.firedAt || left.no - right.no,
    );
    return readIncidents(rows, this.#sieve);
  }
}
