import type { ClusterMember } from '../daemon/ports.ts';
import type { Clock } from '../domain/ports.ts';

/** A peer that does not say it by then does not count as one that reaches the database. */
const patienceMs = 1500;

/** Whether one of these daemons says at its address that it reaches the database. */
export async function anyReaches(members: readonly ClusterMember[], clock: Clock): Promise<boolean> {
  const answers = members.flatMap(({ advertise }) => (advertise === null ? [] : [reaches(advertise, clock)]));
  return (await Promise.all(answers)).includes(true);
}

async function reaches(address: string, clock: Clock): Promise<boolean> {
  const giveUp = new AbortController();
  const cancel = clock.setTimer(patienceMs, () => giveUp.abort());
  try {
    const response = await fetch(new URL('/readyz', address), { signal: giveUp.signal, redirect: 'error' });
    return saysSo(await response.json());
  } catch {
    return false;
  } finally {
    cancel();
  }
}

/** `{"cluster":{"reachesDatabase":true}}` */
function saysSo(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || !('cluster' in body)) return false;
  const { cluster } = body;
  return (
    typeof cluster === 'object' &&
    cluster !== null &&
    'reachesDatabase' in cluster &&
    cluster.reachesDatabase === true
  );
}
