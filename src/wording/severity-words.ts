import type { Severity } from '../domain/severity.ts';
import type { Reader } from './moments.ts';
import { phrases, say, sentences } from './phrase.ts';
import { sayAgain } from './say-again.ts';

const told = sentences('severity', { critical: 'critical', warning: 'warning', info: 'info' });
const loud = phrases('loudSeverity', { critical: 'CRITICAL', warning: 'WARNING', info: 'INFO' });

export function saySeverity(severity: Severity, reader: Pick<Reader, 'language'>): string {
  return sayAgain(told[severity](), reader);
}

/** The beginnings of headlines. */
export function saySeverityLoudly(severity: Severity, reader: Pick<Reader, 'language'>): string {
  return say(loud[severity], reader);
}
