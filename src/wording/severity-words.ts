import type { Severity } from '../domain/severity.ts';
import { type Listener, phrases, say, sentences } from './phrase.ts';
import { sayAgain } from './say-again.ts';

const told = sentences('severity', { critical: 'critical', warning: 'warning', info: 'info' });
const loud = phrases('loudSeverity', { critical: 'CRITICAL', warning: 'WARNING', info: 'INFO' });

export function saySeverity(severity: Severity, reader: Listener): string {
  return sayAgain(told[severity](), reader);
}

/** The severity as the beginning of a headline. */
export function saySeverityLoudly(severity: Severity, reader: Listener): string {
  return say(loud[severity], reader);
}
