import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiAccount, type ApiAlert, accountsOf, alertsOf } from '../support/api-answers.ts';
import { issueCertificate } from '../support/certificates.ts';
import { eventually } from '../support/eventually.ts';
import {
  bodyMark,
  type HostileProvider,
  hostileRows,
  oddRows,
  startHostileProvider,
} from '../support/hostile-provider.ts';
import { type Listening, listenTls } from '../support/loopback-provider.ts';
import { type Bed, makeBed, type RunningDaemon } from '../support/run-daemon.ts';

const rows = [...hostileRows, ...oddRows];
/** Rows of peers that never gave a good answer. */
const unreachable = ['refused', 'unknown-host', 'self-signed', 'expired', 'other-name'] as const;

let bed: Bed;
let hostile: HostileProvider;
const tls: Listening[] = [];
let daemon: RunningDaemon;
let accounts: ReadonlyMap<string, ApiAccount>;
let alerts: readonly ApiAlert[];
let memoryMb = 0;

beforeAll(async () => {
  hostile = await startHostileProvider(rows);
  bed = await makeBed();
  const answer = (_request: unknown, response: { end(text: string): void }): void => response.end('{}');
  const issuer = issueCertificate({ name: 'a private authority', authority: true });
  const trusted = join(bed.folder, 'authority.pem');
  writeFileSync(trusted, issuer.cert);
  for (const certificate of [
    issueCertificate({ name: 'self-signed', hosts: ['127.0.0.1'] }),
    issueCertificate({ name: 'expired', hosts: ['127.0.0.1'], notAfter: new Date('2021-01-01'), issuer }),
    issueCertificate({ name: 'other', hosts: ['other.example'], issuer }),
  ]) {
    tls.push(await listenTls(certificate, answer));
  }
  const addresses = ['http://127.0.0.1:9', 'http://nowhere.localhost.invalid', ...tls.map(({ url }) => url)];
  bed.configure({
    provider: {
      timeout: '3s',
      maxRequestsPerSecond: 20,
      allowInsecureHttp: true,
      backoff: { initial: '10s', max: '1h' },
    },
    accounts: [
      ...rows.map((_row, index) => ({
        id: `row-${index}`,
        authSecret: `secret-of-row-${index}`,
        baseUrl: `${hostile.origin}/${index}`,
      })),
      ...unreachable.map((id, index) => ({ id, authSecret: `secret-of-${id}`, baseUrl: addresses[index] })),
    ],
  });
  daemon = await bed.start({ NODE_EXTRA_CA_CERTS: trusted });
  await eventually(
    'good readings',
    async () => (await accountsOf(daemon)).filter(({ outcome }) => outcome === 'ok').length === rows.length,
  );
  hostile.turn();
  const turnedAt = new Date().toISOString();
  // Each account is kept as it is first seen with its fault: its wait may be over before the last one has met its own.
  const met = new Map<string, ApiAccount>();
  const answers = await eventually('every account met its fault', async () => {
    const known = await accountsOf(daemon);
    for (const account of known) {
      const { id, outcome, polledAt, balances } = account;
      const row = rows[Number(id.slice('row-'.length))];
      // A poll may have been under way when the provider turned: what it read is the old balance.
      const isTurned =
        row === undefined ||
        (polledAt !== null && polledAt > turnedAt && (!('sms' in row) || row.sms === balances.sms));
      if (isTurned && outcome === (row?.outcome ?? 'network_error') && !met.has(id)) met.set(id, account);
    }
    return met.size === known.length ? [] : null;
  }).catch(() => accountsOf(daemon));
  accounts = new Map([...answers.map((account) => [account.id, account] as const), ...met]);
  alerts = await alertsOf(daemon);
  memoryMb = residentMb(daemon.pid);
});

afterAll(async () => {
  await bed.close();
  await Promise.all([hostile, ...tls].map((server) => server.close()));
});

function residentMb(pid: number): number {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1024;
}

describe('the built program and a provider that lies', () => {
  it.each(hostileRows.map((row, index) => ({ ...row, index })))(
    '$name is $outcome: the balance stays as it was',
    ({ index, outcome }) => {
      const account = accounts.get(`row-${index}`);
      expect(account?.outcome).toBe(outcome);
      expect(account?.balances).toEqual({ sms: '1000', voip: '40' });
      expect(account?.failure).toBeTruthy();
    },
  );

  it.each(oddRows.map((row, index) => ({ ...row, index: hostileRows.length + index })))(
    '$name is a reading of $sms',
    ({ index, sms }) => {
      expect(accounts.get(`row-${index}`)).toMatchObject({ outcome: 'ok', balances: { sms } });
    },
  );

  it.each(unreachable)('%s is a network error from the start: no balance, not zero', (id) => {
    expect(accounts.get(id)).toMatchObject({ outcome: 'network_error', balances: { sms: null, voip: null } });
  });

  it('reasons for a TLS failure differ, so that they can be told apart', () => {
    const reasons = ['self-signed', 'expired', 'other-name'].map((id) => accounts.get(id)?.failure);
    expect(new Set(reasons).size).toBe(3);
  });

  it('invents no alert about money, and names a refused key at once', () => {
    const low = new Set(
      oddRows.flatMap(({ sms }, index) => (Number(sms) < 200 ? [`row-${hostileRows.length + index}`] : [])),
    );
    const money = alerts.filter(({ type }) => type === 'below' || type === 'negative');
    expect(new Set(money.map(({ account }) => account))).toEqual(low);
    const refused = alerts.filter(({ type, state }) => type === 'auth-failed' && state === 'firing');
    expect(refused).toHaveLength(hostileRows.filter(({ outcome }) => outcome === 'auth_failed').length);
  });

  it('waits as long as a 429 or a refusal asks, at most a day, and its own time where that is nonsense', () => {
    const accountOf = (name: string) => accounts.get(`row-${rows.findIndex((row) => row.name === name)}`);
    const waitOf = (name: string): number => {
      const account = accountOf(name);
      return (Date.parse(account?.backoffUntil ?? '') - Date.parse(account?.polledAt ?? '')) / 1000;
    };
    expect(waitOf('429 with seconds')).toBeCloseTo(30, 0);
    expect(waitOf('-22 with a wait')).toBeCloseTo(300, 0);
    expect(waitOf('429 with a date')).toBeGreaterThan(55);
    for (const name of ['429 with garbage', '429 with a negative wait', '-32 with HTTP 200']) {
      // A busy machine may have asked again before it was looked at.
      const leastS = 10 * 2 ** ((accountOf(name)?.consecutiveFailures ?? 1) - 1);
      expect(waitOf(name)).toBeGreaterThanOrEqual(leastS - 0.01);
      expect(waitOf(name)).toBeLessThanOrEqual(leastS * 1.26);
    }
    expect(waitOf('429 with ten years')).toBeCloseTo(86_400, 0);
  });

  it('never follows a redirect', () => {
    expect(hostile.requests.filter(({ path }) => path.includes('stolen'))).toEqual([]);
  });

  it('keeps nothing of foreign bodies: neither in memory, nor in logs, nor in messages', async () => {
    expect(memoryMb).toBeLessThan(200);
    const api = JSON.stringify([...accounts.values()]);
    const messages = bed.slack.posts.map(({ body }) => body).join();
    for (const text of [daemon.output().stdout, daemon.output().stderr, api, messages]) {
      expect(text).not.toContain(bodyMark);
    }
    expect(daemon.child.exitCode).toBeNull();
  });
});
