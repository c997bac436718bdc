import type { Micros } from '../../domain/money.ts';
import { type OutcomeKind, outcomeKinds } from '../../domain/outcome.ts';
import { amountOf, type PollRecord, type Reading } from '../../domain/reading.ts';
import { ByteReader, ByteWriter, PollCodecError } from './poll-bytes.ts';

/**
 * Polls as bytes. A run of polls of one account is one byte string that grows at its end: a poll that found the balance
 * unchanged costs 2 to 4 bytes, a changed one about 7. All integers are little-endian base-128 varints.
 *
 * ```
 * run    = version(1) record*
 * record = control time [sms] [voip] [currency]
 * control: bits 0-2 outcome, bits 3-4 how sms moved, bits 5-6 how voip moved, bit 7 currency changed
 * time   = zigzag varint: milliseconds since the poll before, less the same of that poll (0 before the first two)
 * moved  = 0 unchanged: nothing | 1 rose, 2 fell: varint of the millionths | 3 anew: sign byte, varint of the magnitude
 * currency = varint index into the run's currencies in order of appearance; the next free index is followed by the new
 *          one: varint length, then a varint for each UTF-16 unit
 * ```
 *
 * Failed polls have no balance and leave the last one as what the next `ok` is compared with. Time may go backwards.
 */
const version = 1;

/** Numbers of the outcomes in stored bytes. Never renumber: databases hold them. */
const codeOfOutcome: Readonly<Record<OutcomeKind, number>> = {
  ok: 0,
  rate_limited: 1,
  auth_failed: 2,
  api_error: 3,
  invalid_response: 4,
  http_error: 5,
  timeout: 6,
  network_error: 7,
};
const outcomeOfCode = outcomeKinds.toSorted((left, right) => codeOfOutcome[left] - codeOfOutcome[right]);

const unchanged = 0;
const rose = 1;
const fell = 2;
const anew = 3;
const currencyChanged = 0x80;

/** Instants beyond these (the year 10889) have differences whose differences are no longer exact. */
const latestInstant = 2 ** 48;

/** What the next record is compared with: the state at the end of a run. */
interface Tail {
  at: number;
  stepMs: number;
  polls: number;
  sms: Micros;
  voip: Micros;
  currency: number;
  readonly currencies: string[];
}

/**
 * Grows a run poll by poll without decoding it again. Give it the bytes of an unfinished run to go on with it;
 * throws `PollCodecError` when they are none.
 */
export class PollEncoder {
  readonly #writer: ByteWriter;
  #firstAt = 0;
  #earliestAt = Number.POSITIVE_INFINITY;
  #latestAt = Number.NEGATIVE_INFINITY;
  readonly #tail: Tail;

  constructor(run: Uint8Array | null = null) {
    const tail = startTail();
    this.#tail = tail;
    this.#writer = new ByteWriter(run ?? Uint8Array.of(version));
    if (run !== null) for (const poll of decodeInto(run, tail)) this.#note(poll.at);
  }

  /** Number of polls in the run. */
  get polls(): number {
    return this.#tail.polls;
  }

  get byteLength(): number {
    return this.#writer.length;
  }

  /** Instant of the poll appended first; meaningless while the run is empty, as are the three below. */
  get firstAt(): number {
    return this.#firstAt;
  }

  /** Instant of the poll appended last. */
  get lastAt(): number {
    return this.#tail.at;
  }

  get earliestAt(): number {
    return this.#earliestAt;
  }

  get latestAt(): number {
    return this.#latestAt;
  }

  /** The run so far. A view: valid until the next `append`. */
  bytes(): Uint8Array {
    return this.#writer.bytes();
  }

  /** Refuses (RangeError) an instant or a balance that is no integer or out of range, and leaves the run as it was. */
  append(poll: PollRecord): void {
    const { reading } = poll;
    checkInstant(poll.at);
    if (reading === null) {
      if (poll.outcome === 'ok') throw new RangeError('a poll that ended ok needs its reading');
      this.#writer.reserve(16);
      this.#writer.byte(codeOfOutcome[poll.outcome]);
      this.#putTime(poll.at);
      return;
    }
    if (poll.outcome !== 'ok') throw new RangeError(`a poll that ended ${poll.outcome} has no reading`);
    if (reading.at !== poll.at) throw new RangeError('a reading has the instant of its poll');
    checkBalance(amountOf(reading, 'sms'));
    checkBalance(amountOf(reading, 'voip'));
    this.#writer.reserve(64 + 3 * reading.currency.length);
    this.#putOk(reading);
  }

  #putOk(reading: Reading): void {
    const tail = this.#tail;
    const sms = amountOf(reading, 'sms');
    const voip = amountOf(reading, 'voip');
    const smsMove = moveOf(tail.sms, sms);
    const voipMove = moveOf(tail.voip, voip);
    const sameCurrency = tail.currencies[tail.currency] === reading.currency;
    this.#writer.byte(
      codeOfOutcome.ok | (smsMove << 3) | (voipMove << 5) | (sameCurrency ? 0 : currencyChanged),
    );
    this.#putTime(reading.at);
    this.#putBalance(smsMove, tail.sms, sms);
    this.#putBalance(voipMove, tail.voip, voip);
    if (!sameCurrency) this.#putCurrency(reading.currency);
    tail.sms = sms;
    tail.voip = voip;
  }

  #putTime(at: number): void {
    const tail = this.#tail;
    const stepMs = tail.polls === 0 ? 0 : at - tail.at;
    const change = tail.polls === 0 ? at : stepMs - tail.stepMs;
    this.#writer.varint(change < 0 ? -change * 2 - 1 : change * 2);
    tail.at = at;
    tail.stepMs = stepMs;
    tail.polls += 1;
    this.#note(at);
  }

  #note(at: number): void {
    if (this.#earliestAt === Number.POSITIVE_INFINITY) this.#firstAt = at;
    if (at < this.#earliestAt) this.#earliestAt = at;
    if (at > this.#latestAt) this.#latestAt = at;
  }

  #putBalance(move: number, before: Micros, after: Micros): void {
    if (move === unchanged) return;
    if (move === anew) this.#writer.byte(after < 0 ? 1 : 0);
    this.#writer.varint(Math.abs(move === anew ? after : after - before));
  }

  #putCurrency(currency: string): void {
    const { currencies } = this.#tail;
    const known = currencies.indexOf(currency);
    this.#tail.currency = known === -1 ? currencies.length : known;
    this.#writer.varint(this.#tail.currency);
    if (known !== -1) return;
    currencies.push(currency);
    this.#writer.varint(currency.length);
    for (let index = 0; index < currency.length; index += 1) this.#writer.varint(currency.charCodeAt(index));
  }
}

/** The polls of a run in the order in which they were appended. Throws `PollCodecError` when the bytes are no run. */
export function decodePolls(run: Uint8Array): PollRecord[] {
  return decodeInto(run, startTail());
}

function startTail(): Tail {
  return { at: 0, stepMs: 0, polls: 0, sms: 0, voip: 0, currency: -1, currencies: [] };
}

function decodeInto(run: Uint8Array, tail: Tail): PollRecord[] {
  if (run[0] !== version)
    throw new PollCodecError(`stored polls begin with version ${run[0] ?? 'nothing'}, not ${version}`);
  const reader = new ByteReader(run, 1);
  const polls: PollRecord[] = [];
  while (reader.remaining > 0) polls.push(readRecord(reader, tail));
  return polls;
}

/** Reads at least two bytes, so that decoding any bytes ends. */
function readRecord(reader: ByteReader, tail: Tail): PollRecord {
  const control = reader.byte();
  readTime(reader, tail);
  const { at } = tail;
  const outcome = outcomeOfCode[control & 7];
  if (outcome === undefined) throw new PollCodecError('stored polls name an unknown outcome');
  if (outcome !== 'ok') {
    if (control > 7) throw new PollCodecError('a failed poll holds a balance');
    return { at, outcome, reading: null };
  }
  tail.sms = readBalance(reader, (control >> 3) & 3, tail.sms);
  tail.voip = readBalance(reader, (control >> 5) & 3, tail.voip);
  if ((control & currencyChanged) !== 0) tail.currency = readCurrency(reader, tail.currencies);
  const currency = tail.currencies[tail.currency];
  if (currency === undefined) throw new PollCodecError('a reading names no currency');
  return { at, outcome, reading: { at, balances: { sms: tail.sms, voip: tail.voip }, currency } };
}

function readTime(reader: ByteReader, tail: Tail): void {
  const zigzag = reader.varint();
  const change = zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
  if (tail.polls === 0) {
    tail.at = change;
  } else {
    tail.stepMs += change;
    tail.at += tail.stepMs;
  }
  tail.polls += 1;
  if (Math.abs(tail.at) > latestInstant) throw new PollCodecError('a stored poll has an impossible instant');
}

function readBalance(reader: ByteReader, move: number, before: Micros): Micros {
  if (move === unchanged) return before;
  const negative = move === anew && reader.byte() === 1;
  const magnitude = reader.varint();
  if (move === anew) return negative ? -magnitude : magnitude;
  const after = move === rose ? before + magnitude : before - magnitude;
  if (!Number.isSafeInteger(after)) throw new PollCodecError('a stored balance is out of range');
  return after;
}

function readCurrency(reader: ByteReader, currencies: string[]): number {
  const index = reader.varint();
  if (index < currencies.length) return index;
  if (index > currencies.length)
    throw new PollCodecError('a reading names a currency that was never introduced');
  const length = reader.varint();
  if (length > reader.remaining) throw new PollCodecError('stored polls are cut off');
  let currency = '';
  for (let count = 0; count < length; count += 1) currency += String.fromCharCode(reader.varint());
  currencies.push(currency);
  return index;
}

function moveOf(before: Micros, after: Micros): number {
  if (after === before) return unchanged;
  const change = after - before;
  if (!Number.isSafeInteger(change)) return anew;
  return change > 0 ? rose : fell;
}

function checkInstant(at: number): void {
  if (!Number.isInteger(at) || Math.abs(at) > latestInstant)
    throw new RangeError(`no instant that can be stored: ${at}`);
}

function checkBalance(micros: Micros): void {
  if (!Number.isSafeInteger(micros)) throw new RangeError(`no balance that can be stored: ${micros}`);
}
