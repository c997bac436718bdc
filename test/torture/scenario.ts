import type { BalanceAnswer, OutcomeKind } from '../../src/domain/reading.ts';
import type { Matcher } from '../../src/domain/rule.ts';
import type { Settings } from '../../src/domain/settings.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** After the faults have stopped everything gets so long to settle: longer than a message is tried. */
export const calmDays = 1.5;

/**
 * Everything that one run of the simulation is made of, as plain data: a shrinker can take parts away and run the rest. Instants are
 * milliseconds of the simulation's own time, which begins at 0 and never jumps.
 */
export interface Scenario {
  readonly seed: number;
  readonly days: number;
  /** What the wall clock shows at the beginning. */
  readonly startAt: number;
  /** How often the daemon looks around while nothing is due. */
  readonly sleepMs: number;
  /** `file`: on disk, with a copy of what a killed process leaves behind; `memory`: a hundred times faster. */
  readonly storage: 'memory' | 'file';
  /** So many daemons share the database; 1 has it for itself. */
  readonly nodes: number;
  /** How long each way to the database takes; 0 is a database in the process, whose answers are never lost. */
  readonly storeMs: number;
  readonly settings: Settings;
  readonly traffic: Readonly<Record<string, Traffic>>;
  readonly weather: readonly Spell[];
  readonly channelWeather: readonly ChannelSpell[];
  readonly events: readonly Happening[];
  /** No answer of the database is lost by chance. */
  readonly losesNoAnswer?: true;
  /** Share of polls and sends that fail for no reason at all. */
  readonly noise: number;
}

/** How the balances of an account move: cycles that begin full and end low, each drawn from the seed. */
export interface Traffic {
  readonly key: number;
  readonly cycleMs: number;
  readonly grainMicros: number;
  readonly highMicros: number;
  /** Where cycles end: some below zero, some above every threshold. */
  readonly lows: readonly number[];
  /** Share of cycles in which the balance swings around a level, and in which nothing is spent. */
  readonly swings: number;
  readonly idles: number;
  readonly levels: readonly number[];
  readonly currency: string;
}

export type ProviderFault = Exclude<OutcomeKind, 'ok'> | 'currency' | 'slow';

/** A time in which the provider misbehaves. */
export interface Spell {
  readonly kind: ProviderFault;
  readonly from: number;
  readonly until: number;
  /** Ids; null for all. */
  readonly accounts: readonly string[] | null;
  readonly share: number;
  readonly retryAfterMs: number | null;
}

export type ChannelFault =
  | 'refused'
  | 'arrived'
  | 'lost'
  | 'slow'
  | 'limited'
  | 'dead'
  | 'partial'
  | 'owing'
  | 'nobody'
  /** It takes nothing before a time that it names. */
  | 'closed';

export interface ChannelSpell {
  readonly kind: ChannelFault;
  readonly from: number;
  readonly until: number;
  readonly channel: string;
  readonly share: number;
  readonly afterMs: number | null;
}

export type StorageFault = 'full' | 'read-only' | 'busy';

export type DamagedSource = 'alert' | 'incident' | 'message';

export type LineFault = 'cut' | 'isolated' | 'deaf' | 'slow';

export type Happening = { readonly at: number } & (
  | { readonly kind: 'kill'; readonly downMs: number }
  /** At the n-th call of a port from now on. */
  | { readonly kind: 'kill at call'; readonly calls: number; readonly downMs: number }
  | { readonly kind: 'kill in commit'; readonly when: 'before' | 'after'; readonly downMs: number }
  | { readonly kind: 'stop'; readonly downMs: number }
  | { readonly kind: 'jump'; readonly byMs: number }
  | { readonly kind: 'suspend'; readonly forMs: number }
  /** `askedAfterMs`: somebody looks at its page so long after it goes on. */
  | { readonly kind: 'pause'; readonly forMs: number; readonly askedAfterMs?: readonly number[] }
  /** The way of one daemon to the shared database, or of all of them. `isolated`: nor does it reach the others. */
  | {
      readonly kind: 'line';
      readonly fault: LineFault;
      readonly everyone: boolean;
      readonly forMs: number;
    }
  | { readonly kind: 'hand over' }
  /** The replica of the shared database falls behind, and takes its place. */
  | { readonly kind: 'server'; readonly what: 'replica cut' | 'fail over' }
  | { readonly kind: 'storage'; readonly fault: StorageFault; readonly forMs: number }
  /** A bit of one stored record flips: what that does shows when the records are next loaded. */
  | { readonly kind: 'damage'; readonly source: DamagedSource; readonly place: number }
  | { readonly kind: 'backup' }
  | { readonly kind: 'restore'; readonly downMs: number }
  | { readonly kind: 'reload'; readonly settings: Settings }
  | { readonly kind: 'invalid configuration' }
  /** `lateMs`: at a daemon that stands by, for the incident that is open then; the owner takes it so much later. `alone`: by one who does nothing else. */
  | {
      readonly kind: 'acknowledge';
      readonly place: number;
      readonly byOrder: boolean;
      readonly lateMs?: number;
      readonly alone?: true;
    }
  /** The kind of a newer program, left in the database. */
  | { readonly kind: 'order of tomorrow' }
  | { readonly kind: 'test alert'; readonly account: string; readonly byOrder: boolean }
  /** A button under a message in a chat, `place` counted from the newest; `twice`: the receiver brings the press again; `byLink`: the same by the link in the message. */
  | {
      readonly kind: 'press';
      readonly place: number;
      readonly twice: boolean;
      readonly verb?: 'quiet';
      readonly byLink?: boolean;
    }
  /** A top-up that somebody ordered, which comes or does not, and a run that somebody announced. */
  | {
      readonly kind: 'ordered' | 'announced';
      readonly account: string;
      readonly amountMicros: number;
      readonly forMs: number;
      readonly byOrder: boolean;
      /** Default: who always does it. */
      readonly by?: string;
    }
  /** On the page of a daemon that stands by. */
  | {
      readonly kind: 'order at standby';
      readonly what: 'take' | 'link' | 'quiet' | 'run';
      readonly place: number;
    }
  /** Once `what` is under way or about to be: within `forMs`, or never. The instants of `next` count from that one. */
  | {
      readonly kind: 'await';
      readonly what: 'a message' | 'an escalation' | 'a reminder' | 'a report';
      readonly forMs: number;
      readonly next: readonly Happening[];
    }
  | { readonly kind: 'silence'; readonly match: Matcher; readonly forMs: number; readonly byOrder: boolean }
  | { readonly kind: 'expire'; readonly place: number }
  /** Of what `place` finds, counted from the newest: lets a silence last longer, gives back what somebody has, or cancels what is expected. */
  | {
      readonly kind: 'undo';
      readonly what: 'extend' | 'release' | 'cancel';
      readonly place: number;
      readonly byOrder: boolean;
    }
  | { readonly kind: 'poll now'; readonly account: string }
  /** Another daemon, which lost the accounts, left what it read of one from memory. */
  | { readonly kind: 'left readings'; readonly account: string }
  /** Somebody reads what the page has of an account, of incidents and of messages. */
  | { readonly kind: 'look'; readonly account: string }
  /** The same on the pages of all that stand by. */
  | { readonly kind: 'look at standby' }
);

/** Also those that wait for something. */
export function allOf(events: readonly Happening[]): readonly Happening[] {
  return events.flatMap((it) => (it.kind === 'await' ? [it, ...allOf(it.next)] : [it]));
}

export type Balances = BalanceAnswer;
