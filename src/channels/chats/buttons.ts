import { isAcknowledged } from '../../domain/alert.ts';
import { type MessageItem, stateOf } from '../../domain/message.ts';
import { type Severity, severities } from '../../domain/severity.ts';
import { hourMs, instantOfWall, isoDay } from '../../domain/time.ts';
import type { Reader } from '../../wording/moments.ts';
import { phrases, say } from '../../wording/phrase.ts';

const says = phrases('chatButton', {
  acknowledge: 'Acknowledge',
  quiet: 'Quiet…',
  quiet1h: 'Quiet 1 h',
  quiet2h: 'Quiet 2 h',
  quiet4h: 'Quiet 4 h',
  quietMonday: 'Quiet until Monday 9:00',
  ordered: 'Ordered…',
  why: 'Why?',
});

const verbs = ['acknowledge', 'quiet2h', 'quiet1h', 'quiet4h', 'quietMonday', 'ordered', 'why'] as const;

export type Verb = (typeof verbs)[number];

/** The meaning of a message's button: the action on an incident, as it was shown. */
export interface Pressed {
  readonly verb: Verb;
  readonly incident: string;
  readonly severity: Severity;
}

/** At most 64 bytes, the limit of Telegram. The incident is the key to everything else. */
export function writePressed({ verb, incident, severity }: Pressed): string {
  return `${verbs.indexOf(verb)}.${severities.indexOf(severity)}.${incident}`;
}

/** Null for data that no button of lowwater has. */
export function readPressed(data: string): Pressed | null {
  const [, verb, severity, incident = ''] = /^(\d)\.(\d)\.([\w-]{1,58})$/.exec(data) ?? [];
  const pressed = { verb: verbs[Number(verb)], severity: severities[Number(severity)] };
  return pressed.verb === undefined || pressed.severity === undefined
    ? null
    : { verb: pressed.verb, severity: pressed.severity, incident };
}

export interface ChatButton {
  readonly verb: Verb;
  readonly label: string;
  readonly data: string;
}

/** The actions on an alert of a message; none if it is over or has no end. */
export function buttonsOf(item: MessageItem, reader: Reader): readonly ChatButton[] {
  const { incident, account, balance } = item;
  const state = stateOf(item);
  if (incident.resolvedAt !== null || state === 'event' || incident.id === '') return [];
  const wanted = verbs.filter(
    (verb) =>
      (verb !== 'acknowledge' || !isAcknowledged(incident)) &&
      (verb !== 'ordered' || (balance !== null && account !== null)) &&
      (verb !== 'why' || account !== null),
  );
  const { severity } = item;
  return wanted.map((verb) => ({
    verb,
    label: say(says[verb], reader),
    data: writePressed({ verb, incident: incident.id, severity }),
  }));
}

export function isQuiet({ verb }: Pick<ChatButton, 'verb'>): boolean {
  return verb.startsWith('quiet');
}

export function sayQuietMenu(reader: Reader): string {
  return say(says.quiet, reader);
}

/** The instant until which a button asks for quiet; null for the other buttons. */
export function quietUntil(verb: Verb, now: number, timezone: string): number | null {
  const hours = /^quiet(\d)h$/.exec(verb)?.[1];
  if (hours !== undefined) return now + Number(hours) * hourMs;
  return verb === 'quietMonday' ? nextMonday(now, timezone) : null;
}

const dayMs = 24 * hourMs;

/** Nine o'clock of the next Monday in the time zone. */
function nextMonday(now: number, timezone: string): number {
  const today = Date.parse(isoDay(now, timezone));
  const monday = [0, 1, 2, 3, 4, 5, 6, 7]
    .map((days) => today + days * dayMs)
    .filter((day) => new Date(day).getUTCDay() === 1)
    .map((day) => instantOfWall(day + 9 * hourMs, timezone));
  return monday.find((at) => at > now) ?? now + 7 * dayMs;
}
