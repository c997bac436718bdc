import type { MessageItem } from '../../../src/domain/message.ts';
import { entryOf } from '../../../src/domain/provider-entry.ts';
import type { MonitorState } from '../../../src/engine/state.ts';
import type { Send } from '../observer.ts';
import { Violation } from '../story.ts';
import type { AlertBook } from './alert-book.ts';

/** Checks that a message is true when it leaves, whatever was true when it was put on the outbox. */
export function expectSaysWhatIs(
  { message }: Send,
  state: MonitorState,
  { book, isUnheard }: { readonly book: AlertBook; readonly isUnheard: boolean },
): void {
  if (message.kind !== 'incidents') return;
  for (const item of message.items) {
    expectPresent(item, state);
    // The book learns of pushed readings from batches, and no batch leaves while it is unknown whether the last one is stored.
    if (!isUnheard || item.account === null || !isPushed(state, item.account.id)) expectNewest(item, book);
  }
}

function expectPresent({ incident: { id }, severity, resolvedAt }: MessageItem, state: MonitorState): void {
  const now = state.incidents.get(id);
  if (now === undefined || (now.severity === severity && now.resolvedAt === resolvedAt)) return;
  const said = `said ${severity}, ended ${resolvedAt}`;
  throw new Violation(
    'a message says what is',
    `${id}: ${said}; is ${now.severity}, ended ${now.resolvedAt}`,
  );
}

function expectNewest({ incident, account, value, balance, type }: MessageItem, book: AlertBook): void {
  const known = account === null ? undefined : book.fact(account.id);
  if (account === null || known === undefined) return;
  const { balances = {} } = known.reading ?? {};
  const said = account.reading?.balances ?? {};
  if (Object.keys({ ...said, ...balances }).some((each) => said[each] !== balances[each]))
    throw untrue(incident.id, said, balances);
  // If the account answers in another currency, the message shows the last answer in its own.
  const currency = book.currencyOf(account.id);
  const isForeign = currency !== null && known.reading?.currency !== currency;
  const isOver = incident.resolvedAt !== null;
  if (type !== 'below' || isOver || isForeign || balance === null || value?.unit !== 'money') return;
  if (value.micros !== balances[balance]) throw untrue(incident.id, value, balances);
}

function untrue(id: string, said: unknown, read: unknown): Violation {
  return new Violation(
    'a message says what is',
    `${id}: said ${JSON.stringify(said)}; read ${JSON.stringify(read)}`,
  );
}

export function isPushed({ accounts, settings }: MonitorState, account: string): boolean {
  const own = accounts.get(account)?.settings;
  return own !== undefined && !entryOf(settings, own).polled;
}
