import { hourMs } from '../domain/duration.ts';
import type { AnnouncedRun } from '../domain/operator.ts';
import { cleanText } from '../domain/plain-text.ts';
import { instant, listFacts, money, text } from '../domain/quantity.ts';
import { say } from '../wording/language.ts';
import { phrases } from '../wording/phrase.ts';
import { type AccountFacts, unknown, verdict } from './evaluation.ts';
import { allBalances, figuresOf, readingFigures } from './figures.ts';
import { type InputOf, type PlainRule, type RuleKind, severityKey } from './kind.ts';
import { sayLimit, sayValue } from './words.ts';

const says = phrases('announcedRun', {
  subject: 'announced run far off',
  firing: 'the announced run of {limit} took {amount} beyond the usual',
  resolved: 'the announced run is over for a day',
  recovery: 'Resolved: the run was over for a day, or is announced no more.',
  advice:
    'Ask whoever announced it: what it did not take may come later, and forecasts do not expect it any more.',
});

const keys = { severity: severityKey.default('warning') };

/** Names of facts that messages show. */
const runBegan = 'run began';
const runEnded = 'run ended';
const announcedBy = 'announced by';

/** Providers book late. */
const graceMs = hourMs;
/** A run is far off when that is more than half of what was announced. */
const farOff = 0.5;

export const announcedRun: RuleKind<PlainRule<'announced-run'>, InputOf<typeof keys>> = {
  type: 'announced-run',
  summary: 'A run that a person announced and that did not come, or took far more or less.',
  keys,
  needsReading: true,
  builtInId: 'announced-run',
  describe: (rule) => `an announced run did not come or was far off (${rule.severity})`,
  /** Breached from an hour after its end until it is forgotten (`followRuns`). */
  evaluate(rule, facts) {
    if (facts.reading === null) return unknown('no reading yet');
    const run = farOffRun(facts);
    return run === null
      ? verdict(null, null)
      : verdict(rule.severity, money(tookOf(run)), money(run.amountMicros));
  },
  isSurelyOk: (_rule, { announced }) => announced.length === 0,
  factsBehind(_rule, facts) {
    const run = farOffRun(facts) ?? facts.announced[0];
    if (run === undefined) return listFacts({ announced: text('nothing') });
    return listFacts({
      balance: text(run.balance),
      announced: money(run.amountMicros),
      spent: money(run.spentMicros),
      'usual in that time': money(run.usualMicros),
      [runBegan]: instant(run.startsAt),
      [runEnded]: instant(run.endsAt),
      [announcedBy]: text(cleanText(run.announcedBy, 60) || 'somebody'),
      order: run.comment === '' ? null : text(cleanText(run.comment, 200)),
    });
  },
  wouldNotFire: () => 'It would not fire if as much had been announced as was spent.',
  subject: (_about, reader) => say(says.subject, reader),
  firing(item, frame) {
    const [amount, limit] = [sayValue(item, frame), sayLimit(item, frame)];
    return amount === null || limit === null
      ? say(says.subject, frame)
      : say(says.firing, { amount, limit }, frame);
  },
  resolved: (_item, frame) => say(says.resolved, frame),
  recovery: () => says.recovery,
  figures: (item, frame) => [
    ...figuresOf(item, frame, [runBegan, runEnded, announcedBy, 'order']),
    ...(item.account === null ? [] : allBalances(item.account, frame)),
    ...readingFigures(item, frame),
  ],
  advice: (_item, frame) => [say(says.advice, frame)],
};

function farOffRun({ announced, reading }: AccountFacts): AnnouncedRun | null {
  const over = announced.filter(({ endsAt }) => reading !== null && endsAt + graceMs <= reading.at);
  return over.find((run) => Math.abs(tookOf(run) - run.amountMicros) > farOff * run.amountMicros) ?? null;
}

function tookOf({ spentMicros, usualMicros }: AnnouncedRun): number {
  return Math.max(0, spentMicros - usualMicros);
}
