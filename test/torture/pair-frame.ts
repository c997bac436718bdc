import type { Settings } from '../../src/domain/settings.ts';
import {
  type ChannelFault,
  type Happening,
  minuteMs,
  type ProviderFault,
  type Scenario,
} from './scenario.ts';
import type { Seeded } from './seeded.ts';

/** The demands of a pair on its story besides what happens in it. */
export interface Frame {
  readonly faults?: readonly ChannelFault[];
  /** To both channels, one of which people read. */
  readonly everywhere?: true;
  readonly weather?: readonly ProviderFault[];
  readonly nodes?: readonly number[];
  readonly repeatEveryMs?: number;
  readonly escalates?: true;
  readonly accounts?: number;
  /** Of the two channels; otherwise those of tools, and one that people read. */
  readonly types?: readonly string[];
  /** For an entry that says everything itself: its accounts have no address of their own. */
  readonly isOwnEntry?: true;
  /** Requests are refused for a while, with how long that is. */
  readonly limits?: true;
  /** By these expressions. */
  readonly reports?: readonly string[];
  /** Nothing befalls machines, processes and their way to the database besides. */
  readonly isUndisturbed?: true;
  /** Two rules on the same balance: the second has other steps, or is worse at once and speaks for what the first has told. */
  readonly ladders?: 2 | 'worse';
  /** The second of them goes to the second channel, and all else to the first. */
  readonly isApart?: true;
  readonly groupWaitMs?: number;
  /** An hour from each. */
  readonly quietHours?: string;
}

/** One machine, whose process ends, as often as several. */
export const oneOrMany = [1, 1, 2, 3];

export interface Scene {
  readonly settings: Settings;
  readonly at: number;
  /** Nothing begins later. */
  readonly until: number;
}

/** Another process, or the next one, has the accounts after it. */
export function endOfOwner(from: Seeded, at: number): Happening {
  const kind = from.pick(['kill', 'stop', 'hand over'] as const);
  return kind === 'hand over' ? { at, kind } : { at, kind, downMs: from.pick([1000, 5 * minuteMs]) };
}

const ofPeople: readonly Happening['kind'][] = [
  ...(['acknowledge', 'silence', 'expire', 'undo', 'press', 'ordered', 'announced'] as const),
  ...(['test alert', 'order at standby', 'await'] as const),
];

export function isByPeople({ kind }: Happening): boolean {
  return ofPeople.includes(kind);
}

/** The story without what the frame leaves out of it. */
export function lessDisturbed(drawn: Scenario, { isUndisturbed }: Frame): Scenario {
  if (isUndisturbed !== true) return drawn;
  return {
    ...drawn,
    losesNoAnswer: true,
    events: drawn.events.filter(isByPeople),
  };
}

/** The machines of the story, and what they cannot share is left out. */
export function withNodes(from: Seeded, drawn: Scenario, { nodes }: Frame): Scenario {
  if (nodes === undefined) return drawn;
  const count = from.pick(nodes);
  const events = drawn.events.filter(({ kind }) => count === 1 || (kind !== 'backup' && kind !== 'restore'));
  const storage = count === 1 ? drawn.storage : 'memory';
  return {
    ...drawn,
    nodes: count,
    storage,
    events,
    storeMs: from.pick(count === 1 ? [0, 3, 400] : [3, 40, 400]),
  };
}
