import { collect } from '../../src/daemon/history-loader.ts';
import type { Incident } from '../../src/domain/alert.ts';
import { StorageError } from '../../src/domain/operator-error.ts';
import type { Notification } from '../../src/domain/outbox.ts';
import type { Reading } from '../../src/domain/reading.ts';
import type { Machine } from './machine.ts';
import type { Model } from './model/model.ts';

const dayMs = 86_400_000;

/** The page shows all that the daemon knows, each thing once, whether or not it is stored. */
export async function look(machine: Machine, model: Model, account: string): Promise<void> {
  const { daemon } = machine;
  if (daemon === null || machine.stopping || machine.frozen) return;
  const { state, reader } = daemon;
  const now = daemon.now();
  const last = state.accounts.get(account)?.poll.reading ?? null;
  const open = [...state.incidents.values()].filter(({ resolvedAt }) => resolvedAt === null);
  const waiting = [...state.messages.values()].filter((message) => message.state === 'pending');
  try {
    const readings = await collect(reader.readings({ account, since: now - dayMs, until: now + 1 }));
    const incidents = await reader.incidents({ since: now - dayMs });
    const messages = await reader.messages(10_000);
    if (machine.daemon !== daemon) return;
    const broken =
      untrueReadings(readings, last !== null && last.at > now - dayMs && last.at <= now ? last : null) ??
      missing(open, incidents) ??
      missing(waiting, messages);
    if (broken !== null) model.broken('who looks reads all that is known, once', broken);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
}

function untrueReadings(read: readonly Reading[], last: Reading | null): string | null {
  const times = read.map(({ at }) => at);
  if (times.some((at, place) => place > 0 && at <= (times[place - 1] ?? at)))
    return `readings of ${times.join(', ')}`;
  return last === null || times.includes(last.at) ? null : `no reading of ${last.at}`;
}

function missing(
  known: readonly (Incident | Notification)[],
  read: readonly { readonly id: string }[],
): string | null {
  const ids = read.map(({ id }) => id);
  const twice = ids.find((id, place) => ids.indexOf(id) !== place);
  if (twice !== undefined) return `${twice} twice`;
  return known.find(({ id }) => !ids.includes(id))?.id ?? null;
}
