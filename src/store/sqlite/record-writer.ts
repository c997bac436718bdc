import type { Alert, Incident } from '../../domain/alert.ts';
import { isSettled } from '../../domain/incident.ts';
import type { Notification } from '../../domain/outbox.ts';
import type { Silence } from '../../domain/silence.ts';
import type { Batch, GroupBackoff } from '../../ports/store.ts';
import { incidentToBody } from '../incident-body.ts';
import type { Connection } from './connection.ts';

/** Writes the parts of a batch that are read and written whole, inside a transaction of the caller's. */
export function openRecordWriter(db: Connection): (batch: Batch) => void {
  const writeBackoff = db.prepare(
    'INSERT INTO backoff (group_key, until, body) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET until = excluded.until, body = excluded.body',
  );
  const writeAlert = db.prepare(
    'INSERT INTO alert (account, rule, body) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body',
  );
  const removeAlert = db.prepare('DELETE FROM alert WHERE account = ? AND rule = ?');
  const writeIncident = db.prepare(
    `INSERT INTO incident (id, account, rule, fired_at, ended_at, settled, body) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET fired_at = excluded.fired_at, ended_at = excluded.ended_at, settled = excluded.settled, body = excluded.body`,
  );
  const writeMessage = db.prepare(
    `INSERT INTO message (id, state, created_at, body) VALUES (?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET state = excluded.state, created_at = excluded.created_at, body = excluded.body`,
  );
  const removeNotification = db.prepare('DELETE FROM message WHERE id = ?');
  const writeSilence = db.prepare(
    'INSERT INTO silence (id, ends_at, body) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET ends_at = excluded.ends_at, body = excluded.body',
  );
  const writeNote = db.prepare(
    'INSERT INTO note (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
  );
  const removeNote = db.prepare('DELETE FROM note WHERE name = ?');

  const backoff = (each: GroupBackoff): unknown =>
    writeBackoff.run(each.group, each.until, JSON.stringify(each));
  const alert = (each: Alert): unknown => writeAlert.run(each.account, each.rule, JSON.stringify(each));
  const message = (each: Notification): unknown =>
    writeMessage.run(each.id, each.state, each.createdAt, JSON.stringify(each));
  const silence = (each: Silence): unknown => writeSilence.run(each.id, each.endsAt, JSON.stringify(each));
  const incident = (each: Incident): unknown =>
    writeIncident.run(
      each.id,
      each.account,
      each.rule,
      each.firedAt,
      endOf(each),
      isSettled(each) ? 1 : 0,
      JSON.stringify(incidentToBody(each)),
    );

  return (batch) => {
    for (const each of batch.backoffs) backoff(each);
    // Removed first: what was removed and came back within one turn stays.
    for (const { account, rule } of batch.removedAlerts) removeAlert.run(account, rule);
    for (const each of batch.alerts) alert(each);
    for (const each of batch.incidents) incident(each);
    for (const id of batch.removedMessages) removeNotification.run(id);
    for (const each of batch.messages) message(each);
    for (const each of batch.silences) silence(each);
    for (const [name, value] of Object.entries(batch.notes)) {
      if (value === null) removeNote.run(name);
      else writeNote.run(name, value);
    }
  };
}

function endOf(incident: Incident): number | null {
  return incident.event ? incident.firedAt : incident.resolvedAt;
}
