import type { Incident } from '../../../src/domain/alert.ts';
import type { MonitorState } from '../../../src/engine/state.ts';
import { Violation } from '../story.ts';
import { DurableMap } from './durable-map.ts';
import { sharesVoice } from './routing.ts';

/** What was seen of an incident, in the time that really passes: the dates it carries lie when the clock was set back. */
interface Seen {
  readonly openAt: number;
  /** The date of its acknowledgement, null without one. */
  readonly acknowledgement: number | null;
  /** The date of the last one that it had, which may have been given back since. */
  readonly had: number | null;
  /** When that came; null where the incident was first seen with it, so that nobody knows what else was open then. */
  readonly takenAt: number | null;
}

/** One acknowledgement takes all that were open about the same empty balance. */
export class OneVoice {
  readonly #seen = new DurableMap<Seen>();

  /** An incident in a batch. */
  followed({ id, acknowledgement }: Incident, at: number): void {
    const known = this.#seen.get(id);
    const date = acknowledgement?.at ?? null;
    // Who ordered a top-up takes what that mends, and nothing else.
    const takenAt = acknowledgement?.comment.startsWith('ordered') === true ? null : at;
    if (known === undefined)
      this.#seen.set(id, { openAt: at, acknowledgement: date, had: date, takenAt: null });
    else if (known.acknowledgement !== date)
      this.#seen.set(id, { ...known, acknowledgement: date, had: date ?? known.had, takenAt });
  }

  expect(state: MonitorState, incident: Incident): void {
    const takenAt = this.#seen.get(incident.id)?.takenAt ?? null;
    const mine = state.alerts.get(incident.account, incident.rule);
    if (incident.acknowledgement === null || takenAt === null || mine?.incident !== incident.id) return;
    for (const alert of state.alerts.of(incident.account).values()) {
      const other = alert.incident === null ? undefined : state.incidents.get(alert.incident);
      if (other === undefined || !sharesVoice(alert, mine) || other.acknowledgement !== null) continue;
      const { openAt = takenAt, had = null } = this.#seen.get(other.id) ?? {};
      // What was taken with it may have been given back since this one rose, which keeps what it was taken with.
      const isLeft = had === incident.acknowledgement.at && incident.rises > incident.acknowledgement.rises;
      if (openAt < takenAt && !isLeft)
        throw new Violation('one acknowledgement takes them all', `${incident.id}, but not ${other.id}`);
    }
  }

  /** The database is an older one, or the clock moved unseen: what was seen before proves nothing. */
  restored(): void {
    for (const id of [...this.#seen.keys()]) this.#seen.delete(id);
    this.commit();
  }

  lose(incident: string): void {
    this.#seen.forget(incident);
  }

  take(): void {
    this.#seen.take();
  }

  commit(): void {
    this.#seen.commit();
  }

  crash(): void {
    this.#seen.crash();
  }
}
