/** Mildest first. */
export const severities = ['info', 'warning', 'critical'] as const;

export type Severity = (typeof severities)[number];

/** 0, 1 or 2. */
export function severityRank(severity: Severity): number {
  return severities.indexOf(severity);
}

export function isWorse(left: Severity, right: Severity): boolean {
  return severityRank(left) > severityRank(right);
}
