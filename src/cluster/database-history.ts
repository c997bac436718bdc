import type { ClusterLook } from '../ports/cluster.ts';

export interface DatabaseChange {
  /** A clause. */
  readonly happened: string;
  /** It has not all that it had, so that who remembers more may store it again first. */
  readonly isLoss: boolean;
}

/** What happened to the database between two looks; null where nothing did. */
export function compareLooks(before: ClusterLook | null, now: ClusterLook): DatabaseChange | null {
  if (before === null) return null;
  const lost = describeLoss(before, now);
  const moved = describeMove(before, now);
  if (lost === null && moved === null) return null;
  const happened = moved === null ? `the database ${lost}` : lost === null ? moved : `${moved} and ${lost}`;
  return { happened, isLoss: lost !== null };
}

function describeMove({ origin: before }: ClusterLook, { origin: now }: ClusterLook): string | null {
  if (before === null || now === null) return null;
  if (before.system !== now.system) return 'the database is another server now';
  if (before.timeline === now.timeline) return null;
  return before.timeline < now.timeline
    ? `the database failed over (timeline ${before.timeline} to ${now.timeline})`
    : `the database went back from timeline ${before.timeline} to ${now.timeline}`;
}

function describeLoss(before: ClusterLook, now: ClusterLook): string | null {
  if (now.epoch < before.epoch) return `lost its commits since epoch ${now.epoch}`;
  if (now.epoch !== before.epoch || now.batch === null || before.batch === null) return null;
  return now.batch < before.batch ? `lost at least its last ${before.batch - now.batch} commits` : null;
}
