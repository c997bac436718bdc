import { DatabaseError } from 'pg';
import { StorageError } from '../../domain/operator-error.ts';
import type { Cluster, ClusterLook, ClusterMember, DatabaseOrigin, MemberCard } from '../../ports/cluster.ts';
import type { Value } from '../asking.ts';
import { readStatus } from '../shapes.ts';
import { onlySlot } from './commit.ts';
import type { Database } from './connection.ts';

/** For how long rows of members that are gone stay: for people who look, and for an owner that asks which of its batches were stored. */
export const keptForMs = 24 * 60 * 60 * 1000;

/** Milliseconds since 1970 by the clock of the database, at this instant and not at the beginning of the statement. */
const databaseNow = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
const leaseEnd = "clock_timestamp() + $1 * interval '1 millisecond'";

const writeStatus = `INSERT INTO member_status (incarnation, status) VALUES ($2, $6)
  ON CONFLICT (incarnation) DO UPDATE SET status = excluded.status`;

/** Does not wait for a synchronous standby: a dead one would take the accounts from everyone. Lost commits are stored again. */
const local = "local AS (SELECT set_config('synchronous_commit', 'local', true))";
const isLocal = '(SELECT count(*) FROM local) = 1';

/** $8: incarnations of this process that own nothing any more. What they owned becomes free at once. */
const addMember = `WITH ${local}, freed AS (
  UPDATE slot SET incarnation = NULL WHERE incarnation = ANY($8::text[]) RETURNING no
), swept AS (
  DELETE FROM member WHERE (incarnation = ANY($8::text[]) AND (SELECT count(*) FROM freed) >= 0 AND ${isLocal})
    OR expires_at < clock_timestamp() - ${keptForMs} * interval '1 millisecond'
      AND NOT EXISTS (SELECT FROM slot WHERE slot.incarnation = member.incarnation)
  RETURNING incarnation
), unsaid AS (
  DELETE FROM member_status WHERE incarnation IN (SELECT incarnation FROM swept)
), said AS (
  ${writeStatus}
)
INSERT INTO member (expires_at, incarnation, node, advertise, config_hash, program, batch)
VALUES (${leaseEnd}, $2, $3, $4, $5, $7, 0)
ON CONFLICT (incarnation) DO UPDATE SET expires_at = excluded.expires_at`;

/** Never renews a lease that is over: somebody else may own the slot by now. */
const lengthen = `WITH ${local}, said AS (
  ${writeStatus}
  )
  UPDATE member SET expires_at = ${leaseEnd}, node = $3, advertise = $4, config_hash = $5
  WHERE incarnation = $2 AND expires_at > clock_timestamp() AND ${isLocal} RETURNING 1 AS renewed`;

/**
 * SKIP LOCKED: a slot that is just being written to, or taken by another, is tried again the next time. The epoch is part of the
 * condition, so that nobody writes between the check and the change. $3: the epoch that the slot must still have, or null; $4: an epoch
 * that the new one must be above; $5: the end of a lease that does not count, or null.
 */
const takeSlot = `WITH ${local} UPDATE slot SET incarnation = $2, epoch = greatest(slot.epoch, $4::bigint) + 1
  FROM (
    SELECT no, epoch FROM slot WHERE no = $1 AND ($3::bigint IS NULL OR epoch = $3) FOR UPDATE SKIP LOCKED
  ) AS free
  WHERE slot.no = free.no AND slot.epoch = free.epoch AND ${isLocal}
    AND NOT EXISTS (
      SELECT FROM member WHERE member.incarnation = slot.incarnation AND expires_at > clock_timestamp()
        AND (extract(epoch FROM expires_at) * 1000)::bigint IS DISTINCT FROM $5::bigint)
    AND EXISTS (SELECT FROM member WHERE member.incarnation = $2 AND expires_at > clock_timestamp())
  RETURNING slot.epoch`;

/**
 * The slot is updated first, as in every statement, to avoid deadlocks. Orders to hand over are deleted: they were for this owner or an
 * earlier one, and the next owner would hand the accounts over again.
 */
const removeMember = `WITH ${local}, freed AS (
  UPDATE slot SET incarnation = NULL WHERE incarnation = $1 RETURNING no
), obeyed AS (
  DELETE FROM operator_order USING freed WHERE body LIKE '%"kind":"hand-over"%'
)
DELETE FROM member WHERE incarnation = $1 AND (SELECT count(*) FROM freed) >= 0 AND ${isLocal}`;

const findMembers = `SELECT ${databaseNow} AS "databaseNow", slot.epoch, (
    SELECT incarnation FROM member WHERE member.incarnation = slot.incarnation AND expires_at > clock_timestamp()
  ) AS owner, (
    SELECT node FROM member WHERE member.incarnation = slot.incarnation AND expires_at <= clock_timestamp()
  ) AS "lapsedOwner", (
    SELECT batch FROM member WHERE member.incarnation = slot.incarnation
  ) AS batch, (
    SELECT coalesce(json_agg(json_build_object(
      'incarnation', incarnation, 'node', node, 'advertise', advertise, 'configHash', config_hash, 'program', program,
      'expiresAt', (extract(epoch FROM expires_at) * 1000)::bigint, 'status', status) ORDER BY node, incarnation), '[]')
    FROM member LEFT JOIN member_status USING (incarnation) WHERE expires_at > clock_timestamp()
  ) AS members FROM slot WHERE no = $1`;

/** Only transactions that write have a backend_xid. Those of living daemons end within seconds. */
const endStuck = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE usename = current_user AND datname = current_database() AND application_name = current_setting('application_name')
    AND pid <> pg_backend_pid() AND backend_xid IS NOT NULL AND xact_start < clock_timestamp() - $1 * interval '1 millisecond'`;

/** Identifies the server. The timeline is that of the log that is being written: the control file names it only after a checkpoint. */
const findOrigin = `SELECT system_identifier::text AS system,
  ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int AS timeline FROM pg_control_system()`;

type MemberRow = Omit<ClusterMember, 'status'> & { readonly status: string | null };

export async function lookAround({ change }: Database): Promise<ClusterLook> {
  const [seen] = await change<Omit<ClusterLook, 'members'> & { readonly members: readonly MemberRow[] }>(
    findMembers,
    [onlySlot],
  );
  if (seen === undefined) {
    const words =
      'the PostgreSQL database: the row of its table slot cannot be seen: restore a backup, or let this user see it';
    throw new StorageError('unfit', words);
  }
  const members = seen.members.map((member) => ({ ...member, status: readStatus(member.status) }));
  return { ...seen, members, origin: null };
}

/** The operations by which daemons agree on who owns the slot. Each is one statement, and uses the clock of the database. */
export function openLease(
  database: Database,
  leaseMs: number,
  program: string,
): Pick<Cluster, 'look' | 'join' | 'renew' | 'claim' | 'endStuck' | 'leave'> {
  const { change } = database;
  const look = (): Promise<ClusterLook> => lookAround(database);
  let isOriginSecret = false;
  const origin = async (): Promise<DatabaseOrigin | null> => {
    if (isOriginSecret) return null;
    try {
      const [found] = await change<DatabaseOrigin>(findOrigin);
      return found ?? null;
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      // Some database hosts do not let this user read it.
      isOriginSecret = error.kind === 'unfit' && error.cause instanceof DatabaseError;
      return null;
    }
  };
  const valuesOf = ({ incarnation, node, advertise, configHash, status }: MemberCard): readonly Value[] => [
    leaseMs,
    incarnation,
    node,
    advertise,
    configHash,
    JSON.stringify(status),
  ];
  return {
    look,
    async join(card, gone = []) {
      await change(addMember, [...valuesOf(card), program, gone]);
    },
    async renew(card) {
      const renewed = await change(lengthen, valuesOf(card));
      return { ...(await look()), origin: await origin(), renewed: renewed.length === 1 };
    },
    async claim(incarnation, { after, above, overdue } = {}) {
      const values = [onlySlot, incarnation, after ?? null, above ?? 0, overdue ?? null];
      const [taken] = await change<{ epoch: number }>(takeSlot, values);
      return taken?.epoch ?? null;
    },
    async endStuck() {
      await change(endStuck, [leaseMs]);
    },
    async leave(incarnation) {
      await change(removeMember, [incarnation]);
    },
  };
}
