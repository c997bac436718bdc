import { getOrMake } from '../../domain/get-or-make.ts';
import { severities } from '../../domain/severity.ts';
import { patternsOf } from '../../wording/language.ts';
import { timePatterns } from '../../wording/moments.ts';
import { type Language, phrases } from '../../wording/phrase.ts';
import { sayThreshold } from './chart-picture.ts';

const says = phrases('script', {
  fresh: 'Updates by itself.',
  lost: 'Not connected.',
  lostTitle: 'Not connected · {title}',
  lostBanner: 'No connection to lowwater: this page is as of {moment}, and may be wrong by now.',
  ownZone: 'Show {zone}, as here',
  over: 'This is over, or no longer in this list.',
  changed: 'Changed since you began.',
  keys: 'Keys',
  search: 'search',
  next: 'next or last alert, then account',
  open: 'open it',
  acts: 'what can be done about the alert',
  acknowledge: 'acknowledge the alert',
  silence: 'silence the alert',
  tick: 'tick the alert',
  go: 'go to Overview, Alerts, Pay, Silences, Review, Messages',
  leave: 'leave a form or this list',
  list: 'this list',
  single: 'Shortcuts of a single key',
  close: 'Close',
  zoom: 'Zoom of the chart',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  earlier: 'Earlier',
  later: 'Later',
  whole: 'Whole',
  time: 'Time',
  balance: 'Balance',
  projection: 'Projection',
});

const made = new WeakMap<Language, string>();

/** The words for the pages' scripts: part of each page, as JSON. */
export function scriptWords(language: Language): string {
  return getOrMake(made, language, () => {
    const reader = { language };
    const levels = severities.map((severity) => [severity, sayThreshold(severity, '{amount}', reader)]);
    return JSON.stringify({
      ...patternsOf(says, reader),
      ...timePatterns(reader),
      ...Object.fromEntries(levels),
    });
  });
}
