import type { Severity } from '../domain/severity.ts';
import type { Style } from './terminal/style.ts';

/** The colour of a severity. */
export function paintSeverity(style: Style, severity: Severity, text: string): string {
  if (severity === 'critical') return style.red(text);
  return severity === 'warning' ? style.yellow(text) : style.blue(text);
}
