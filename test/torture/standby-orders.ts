import type { StandbyViews } from '../../src/cluster/standby-views.ts';
import { StorageError } from '../../src/domain/operator-error.ts';
import type { Wanted } from '../../src/engine/orders.ts';
import { orderOf } from '../support/orders.ts';
import type { Fleet } from './fleet.ts';
import { isNew } from './links.ts';
import type { Machine } from './machine.ts';
import type { Model } from './model/model.ts';
import type { Happening } from './scenario.ts';
import type { World } from './world.ts';

type Standing = Extract<Happening, { kind: 'order at standby' }>;

/** By then a standby whose line works has read what was stored, where leases go as slowly as in the simulation. */
const readAgainMs = 20 * 60_000;

/** Somebody orders on the page of a daemon that stands by; what it says there must become so, or be taken back. */
export async function orderAtStandby(
  { fleet, model, world }: { readonly fleet: Fleet; readonly model: Model; readonly world: World },
  it: Standing,
): Promise<void> {
  const standing = fleet.machines.filter((each) => each !== fleet.owner && isStandingBy(each));
  const machine = standing[it.place % Math.max(1, standing.length)];
  const page = await machine?.standbyPage();
  if (machine === undefined || page === undefined) return;
  try {
    const by = `sam-${it.at}`;
    const wanted = await wantedAt(page, it, machine.wall(), world.chats.linkedAt(it.place));
    if (wanted === null) return;
    const [answer] = await page.orders([orderOf(wanted, { by, at: machine.wall() })]);
    const incident = wanted.kind === 'acknowledge' ? (wanted.seen?.incident ?? null) : null;
    model.given.answered(by, { isSaidDone: isNew(answer), incident });
    machine.queue.at(machine.queue.now + readAgainMs, () => {
      void expectTrue({ machine, page, model }, by);
    });
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
}

export function isStandingBy({ up, frozen, stopping, membership }: Machine): boolean {
  return up && !frozen && !stopping && membership?.clusterStatus.role === 'standby';
}

/** `linked`: of what incident the message told whose link they follow. */
async function wantedAt(
  page: StandbyViews,
  it: Standing,
  now: number,
  linked: string | null,
): Promise<Wanted | null> {
  const firing = (await page.alerts({ all: false })).filter((alert) => alert.state === 'firing');
  const alert =
    it.what === 'link'
      ? firing.find(({ incident }) => incident === linked)
      : firing[it.place % Math.max(1, firing.length)];
  if (alert === undefined) return null;
  const { account, rule, incident, severity } = alert;
  const span = { startsAt: now, endsAt: now + 3_600_000, comment: '' };
  switch (it.what) {
    case 'link':
      return { kind: 'acknowledge', account, rule, comment: '', seen: { incident } };
    case 'take':
      return { kind: 'acknowledge', account, rule, comment: '', seen: { incident, severity } };
    case 'quiet':
      return { kind: 'silence', match: { account: [account], rule: [rule] }, everything: false, ...span };
    case 'run':
      return { kind: 'expect-spending', account, amountMicros: 50_000_000, ...span };
  }
}

/** Whoever looks again on that page sees an order as done only where it is. */
async function expectTrue(
  { machine, page, model }: { readonly machine: Machine; readonly page: StandbyViews; readonly model: Model },
  by: string,
): Promise<void> {
  if (!isStandingBy(machine)) return;
  try {
    const shown = await page.alerts({ all: false });
    const taken = shown.find(({ acknowledged }) => acknowledged?.by === by);
    const state = model.machine?.daemon?.state;
    if (taken !== undefined && state !== undefined && !model.given.isDone(state, by))
      model.broken('a standby shows as done what is', `${by} has ${taken.account}/${taken.rule}`);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
}
