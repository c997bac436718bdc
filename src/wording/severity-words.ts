import type { Severity } from '../domain/severity.ts';
import { say } from './language.ts';
import type { Reader } from './moments.ts';
import { phrases } from './phrase.ts';

const says = phrases('severity', { critical: 'critical', warning: 'warning', info: 'info' });
const loud = phrases('loudSeverity', { critical: 'CRITICAL', warning: 'WARNING', info: 'INFO' });

export function saySeverity(severity: Severity, reader: Pick<Reader, 'language'>): string {
  return say(says[severity], reader);
}

/** As headlines begin. */
export function saySeverityLoudly(severity: Severity, reader: Pick<Reader, 'language'>): string {
  return say(loud[severity], reader);
}
