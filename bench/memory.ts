/**
 * The memory of the program as it ships, once each account was polled fifty times (what rules look back on grows with history), with
 * its pages: resident megabytes before anybody asked for a page, right after all were asked for five times, and half a minute later
 * (aim: within 15 % of before). Run: npm run build && node bench/memory.ts [accounts ...]; 10,000 take six minutes.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../test/support/free-port.ts';
import { accountId } from './pipeline/accounts.ts';
import { deployedFlags, startMeasured } from './pipeline/measured-process.ts';
import { startPeers } from './pipeline/start-peers.ts';
import { writeConfig } from './pipeline/write-config.ts';

const program = join(import.meta.dirname, '../dist/main.js');
const rounds = 5;
/** So often each account is polled before anything is measured, and all of them together at most so often a second. */
const pollsOfEach = 50;
const pollsPerSecond = 1500;
const idleMs = 30_000;

const counts = process.argv.slice(2).map(Number);
for (const accounts of counts.length > 0 ? counts : [1, 1_000, 10_000]) await measure(accounts);

async function measure(accounts: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'lowwater-bench-'));
  const peers = await startPeers(accounts, 'untimed');
  try {
    const everySeconds = Math.max(1, Math.ceil(accounts / pollsPerSecond));
    const path = writeConfig({ directory, accounts, every: `${everySeconds}s`, ...peers });
    const port = await freePort();
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), server: { port } }));
    const measured = startMeasured(
      [...deployedFlags, program, 'run', '--config', path],
      join(directory, 'log'),
    );
    while ((await peers.count()).requests < pollsOfEach * accounts) await sleep(1000);
    const before = measured.residentMegabytes();
    await askForAll(`http://127.0.0.1:${port}`);
    const after = measured.residentMegabytes();
    await sleep(idleMs);
    const later = measured.residentMegabytes();
    await measured.end('SIGTERM');
    const above = `${((later / before - 1) * 100).toFixed(0)} % above`;
    console.log(
      `${accounts.toLocaleString('en')} accounts: ${before.toFixed(0)} MiB before pages were asked for, ${after.toFixed(0)} right after, ${later.toFixed(0)} later: ${above}`,
    );
  } finally {
    peers.stop();
    rmSync(directory, { recursive: true });
  }
}

async function askForAll(url: string): Promise<void> {
  const pages = [
    '/',
    '/?sort=burn&q=account',
    '/alerts',
    '/silences',
    `/accounts/${accountId(0)}`,
    '/metrics',
  ];
  for (const path of [...pages, '/api/v1/accounts', '/api/v1/accounts?limit=100', '/api/v1/alerts']) {
    for (let round = 0; round < rounds; round += 1) {
      const response = await fetch(url + path, { headers: { accept: 'text/html,*/*' } });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${path} was answered with ${response.status}`);
    }
  }
}
