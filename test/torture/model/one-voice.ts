import type { Incident } from '../../../src/domain/alert.ts';
import type { MonitorState } from '../../../src/engine/state.ts';
import { Violation } from '../story.ts';
import { DurableMap } from './durable-map.ts';
import { sharesVoice } from './routing.ts';

/** The observations of an incident, in the simulation's time: its own dates are wrong if the clock was set back. */
interface Seen {
  readonly openAt: number;
  /** The date of its acknowledgement, null without one. */
  readonly acknowledgement: number | null;
  /** The date of its last acknowledgement, which may have been removed since. */
  readonly had: number | null;
  /** When that came; null if the incident was first seen with it: then nobody knows which others were open. */
  readonly takenAt: number | null;
}

/** One acknowledgement takes every open incident about the same empty balance. */
export class OneVoice {
  readonly #seen = new DurableMap<Seen>();

  /** An incident in a batch. */
  followed({ id, acknowledgement }: Incident, at: number): void {
    const known = this.#seen.get(id);
    const date = acknowledgement?.at ?? null;
    // An ordered top-up acknowledges only the incidents that it clears.
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
      // Removing an acknowledgement spares an incident that rose after it, so that this one may still be acknowledged alone.
      const isLeft = had === incident.acknowledgement.at && incident.rises > incident.acknowledgement.rises;
      if (openAt < takenAt && !isLeft)
        throw new Violation('one acknowledgement takes them all', `${incident.id}, but not ${other.id}`);
    }
  }

  /** The database is an older one, or the clock moved unseen: earlier observations prove nothing. */
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
