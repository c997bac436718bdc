import { promises as dns, type LookupAddress, NODATA, NOTFOUND } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { isIP, type LookupFunction, setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { getOrMake } from '../domain/get-or-make.ts';
import { dayMs, minuteMs } from '../domain/time.ts';
import type { Clock } from '../ports/clock.ts';

/** A name server gets one second, then two: with three of them a lookup ends after nine seconds. */
const queryLimits = { timeout: 1000, tries: 2 };

/** How long an answer is kept: as its records say, within these bounds. An answer of the system does not say how long. */
const minAnswerMs = 1000;
const maxAnswerMs = 5 * minuteMs;
const systemAnswerMs = 10_000;

/** How long the last answer stays in use while the name servers are silent (RFC 8767, section 4). */
const maxStaleMs = dayMs;

/**
 * The time that Node gives each address of a name except the last. Its default is 250 ms: across an ocean a connection takes longer, and only
 * an IPv6 address that leads nowhere would be left.
 */
const longestAttemptMs = 2000;
setDefaultAutoSelectFamilyAttemptTimeout(longestAttemptMs);

/** How many silent addresses can be tried in the time for a connection. */
const triedAddresses = 4;

/** The time for each address if the connection must be made sooner: of four addresses, three may lead nowhere. */
export function attemptMs(timeoutMs: number): number {
  return Math.min(longestAttemptMs, Math.ceil(timeoutMs / triedAddresses));
}

export interface NameLookupOptions {
  /** The clock by which answers age; without a clock none is kept. */
  readonly clock?: Clock;
  /** Name servers, such as `127.0.0.1:53`; those of the system if none are given. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
}

interface Answer {
  readonly addresses: readonly LookupAddress[];
  /** An instant of the monotonic clock, as `staleUntil` is. */
  readonly freshUntil: number;
  /** How long all of the addresses may stay in use. */
  readonly staleUntil: number;
}

const lookups = new WeakMap<Clock, NameLookup>();

/** The lookup that all connections of a process share: a process has one clock. */
export function nameLookup(clock: Clock): LookupFunction {
  return getOrMake(lookups, clock, () => new NameLookup({ clock })).lookup;
}

/**
 * Looks up names without the thread pool. `getaddrinfo` holds a thread until the last name server gave up: a few silent names
 * then hold up every other lookup, and even the end of the process. The hosts file comes first, then the name servers over
 * sockets of our own (c-ares). `getaddrinfo` is asked only if the name servers answered and do not know the name, because
 * it knows search domains and other sources of names.
 *
 * A name is looked up once at a time, whoever asks. Fails with the codes of `getaddrinfo`: `ENOTFOUND` or `EAI_AGAIN`.
 */
export class NameLookup {
  readonly #options: NameLookupOptions;
  readonly #answers = new Map<string, Answer>();
  readonly #running = new Map<string, Promise<readonly LookupAddress[]>>();
  #turns = 0;

  constructor(options: NameLookupOptions) {
    this.#options = options;
  }

  /** `find` in the form that `net.connect` takes. */
  readonly lookup: LookupFunction = (name, { family, all }, done) => {
    this.find(name).then(
      (found) => {
        const wanted = { IPv4: 4, IPv6: 6 }[String(family)] ?? Number(family ?? 0);
        const addresses = found.filter((each) => wanted === 0 || each.family === wanted);
        const [first] = addresses;
        if (first === undefined) done(lookupError('ENOTFOUND', name), '', 0);
        else if (all === true) done(null, this.#turned(addresses));
        else done(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => done(error, '', 0),
    );
  };

  /** If a version has many addresses, others come first each time, because the first ones may all lead nowhere. */
  #turned(addresses: readonly LookupAddress[]): LookupAddress[] {
    const turn = this.#turns++;
    return [4, 6].flatMap((version) => {
      const own = addresses.filter(({ family }) => family === version);
      const start = own.length > triedAddresses ? (turn * triedAddresses) % own.length : 0;
      return [...own.slice(start), ...own.slice(0, start)];
    });
  }

  /** All addresses of a name, IPv4 first: a machine without a route for IPv6 often has IPv6 addresses. */
  async find(name: string): Promise<readonly LookupAddress[]> {
    const known = this.#answers.get(name);
    if (known !== undefined && this.#now() < known.freshUntil) return known.addresses;
    return getOrMake(this.#running, name, () => this.#ask(name).finally(() => this.#running.delete(name)));
  }

  async #ask(name: string): Promise<readonly LookupAddress[]> {
    const family = isIP(name);
    if (family !== 0) return [{ address: name, family }];
    const listed = await this.#findInHostsFile(name);
    if (listed.length > 0) return listed;
    // RFC 6761, 6.4: nobody may ever own such a name, so no name server is asked.
    if (/\.invalid\.?$/i.test(name)) throw lookupError('ENOTFOUND', name);
    try {
      const answer = await this.#askServers(name);
      if (this.#options.clock !== undefined) this.#answers.set(name, answer);
      return answer.addresses;
    } catch (error) {
      const known = this.#answers.get(name);
      const isSilent = error instanceof Error && 'code' in error && error.code === 'EAI_AGAIN';
      if (isSilent && known !== undefined && this.#now() < known.staleUntil) return known.addresses;
      throw error;
    }
  }

  async #findInHostsFile(name: string): Promise<readonly LookupAddress[]> {
    const text = await readFile(this.#options.hostsFile ?? '/etc/hosts', 'utf8').catch(() => '');
    const wanted = name.toLowerCase().replace(/\.$/, '');
    const addresses = text.split('\n').flatMap((line) => {
      const [address = '', ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/);
      return isIP(address) !== 0 && names.includes(wanted) ? [{ address, family: isIP(address) }] : [];
    });
    // RFC 6761, 6.3: such names never leave the machine.
    if (addresses.length === 0 && /(?:^|\.)localhost$/.test(wanted))
      return ['127.0.0.1', '::1'].map((address) => ({ address, family: isIP(address) }));
    return addresses.sort((one, other) => one.family - other.family);
  }

  async #askServers(name: string): Promise<Answer> {
    // One resolver for each lookup, because it reads the system's configuration, which may have changed.
    const resolver = new dns.Resolver(queryLimits);
    if (this.#options.servers !== undefined) resolver.setServers(this.#options.servers);
    const [four, six] = await Promise.allSettled([
      resolver.resolve4(name, { ttl: true }),
      resolver.resolve6(name, { ttl: true }),
    ]);
    const records = [four, six].flatMap((part) => (part.status === 'fulfilled' ? part.value : []));
    if (records.length > 0) {
      // IPv6 addresses alone may lead nowhere. If the query for IPv4 was lost, its last addresses stay, and the name is asked again soon.
      const isLost = isUnanswered(four);
      const ttlMs = isLost ? 0 : Math.min(...records.map(({ ttl }) => ttl)) * 1000;
      const last = isLost ? this.#answers.get(name) : undefined;
      const kept =
        last?.addresses.filter(({ family }) => family === 4 && this.#now() < last.staleUntil) ?? [];
      const found = records.map(({ address }) => ({ address, family: isIP(address) }));
      const answer = this.#lasting([...kept, ...found], Math.min(Math.max(ttlMs, minAnswerMs), maxAnswerMs));
      return last === undefined || kept.length === 0 ? answer : { ...answer, staleUntil: last.staleUntil };
    }
    if (isUnanswered(four) || isUnanswered(six)) throw lookupError('EAI_AGAIN', name);
    const addresses = await dns.lookup(name, { all: true, order: 'ipv4first' });
    return this.#lasting(addresses, systemAnswerMs);
  }

  #lasting(addresses: readonly LookupAddress[], freshMs: number): Answer {
    const freshUntil = this.#now() + freshMs;
    return { addresses, freshUntil, staleUntil: freshUntil + maxStaleMs };
  }

  #now(): number {
    return this.#options.clock?.monotonic() ?? 0;
  }
}

/** Whether a query got no answer. A refused one counts as answered: without name servers, c-ares asks this machine, which refuses. */
function isUnanswered(part: PromiseSettledResult<unknown>): boolean {
  const answers = [NOTFOUND, NODATA, 'ECONNREFUSED', 'EBADNAME'];
  return part.status === 'rejected' && !answers.includes(String(part.reason?.code));
}

function lookupError(code: 'ENOTFOUND' | 'EAI_AGAIN', hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code} ${hostname}`), { code, syscall: 'getaddrinfo', hostname });
}
