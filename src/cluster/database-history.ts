import type { ClusterLook } from '../ports/cluster.ts';

/** What happened to the database between two looks, as a clause; null where nothing did. */
export function compareLooks(before: ClusterLook | null, now: ClusterLook): string | null {
  if (before === null) return null;
  const lost = describeLoss(before, now);
  const moved = describeMove(before, now);
  if (moved === null) return lost === null ? null : `the database ${lost}`;
  return lost === null ? moved : `${moved} and ${lost}`;
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
