import type { Incident } from '../domain/alert.ts';

/** An incident as its row holds it: what channels were notified of stands under `told`, the name that 0.1.0 gave it. */
type StoredIncident = Omit<Incident, 'notified'> & { readonly told: Incident['notified'] };

export function incidentToBody({ notified, ...rest }: Incident): StoredIncident {
  return { ...rest, told: notified };
}

export function incidentFromBody({ told, ...rest }: StoredIncident): Incident {
  return { ...rest, notified: told };
}
