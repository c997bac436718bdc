import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHttpService } from '../../src/net/http-service.ts';
import { builtMain, leanStart } from '../support/built-program.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type Bed, makeBed, otpSecret, type RunningDaemon } from '../support/run-daemon.ts';

interface Answer {
  readonly id?: number;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

interface Result {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent?: Record<string, unknown>;
}

/** A client as the protocol of 2025 opens: lines of JSON-RPC on standard input and output. */
class Client {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly strays: string[] = [];
  #next = 1;

  constructor(configFile: string, words: readonly string[]) {
    const started = [...leanStart, builtMain, 'mcp', '--config', configFile, ...words];
    this.#child = spawn(process.execPath, started, {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const lines = createInterface({ input: this.#child.stdout ?? process.stdin });
    lines.on('line', (line) => {
      const answer: Answer = JSON.parse(line);
      const take = this.#waiting.get(answer.id ?? 0);
      if (take === undefined) this.strays.push(line);
      else take(answer);
    });
  }

  ask(method: string, params: object = {}): Promise<Answer> {
    const id = this.#next++;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#waiting.set(id, resolve);
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return promise;
  }

  async open(): Promise<this> {
    const clientInfo = { name: 'test', version: '1' };
    await this.ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
    return this;
  }

  async call(name: string, given: object = {}): Promise<Result> {
    const { result, error } = await this.ask('tools/call', { name, arguments: given });
    if (result === undefined) throw new Error(error?.message);
    return result as unknown as Result;
  }

  async close(): Promise<number | null> {
    const ended = new Promise<number | null>((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin?.end();
    return ended;
  }
}

let bed: Bed;
let daemon: RunningDaemon;
let reader: Client;
let actor: Client;

beforeAll(async () => {
  bed = await makeBed({ config: { server: { port: await freePort() } } });
  bed.provider.control.setBalance('otp', 'sms', '12.345678');
  daemon = await bed.start();
  await eventually('it fires', async () =>
    JSON.stringify(await daemon.get('/api/v1/alerts')).includes('firing'),
  );
  reader = await new Client(bed.configFile, []).open();
  actor = await new Client(bed.configFile, ['--allow-acts']).open();
});

afterAll(async () => {
  await actor?.close();
  await bed?.close();
});

const readingNames = ['accounts', 'account', 'alerts', 'why', 'pay', 'review', 'history', 'query'];

describe('lowwater mcp', () => {
  it('offers tools that only read, and those that act where that is allowed', async () => {
    const { result } = await reader.ask('tools/list');
    const tools = result?.tools as { name: string; annotations: { readOnlyHint: boolean } }[];
    expect(tools.map(({ name }) => name)).toEqual(readingNames);
    expect(tools.every(({ annotations }) => annotations.readOnlyHint)).toBe(true);
    const more = (await actor.ask('tools/list')).result?.tools as typeof tools;
    const acts = more.filter(({ annotations }) => !annotations.readOnlyHint).map(({ name }) => name);
    expect(acts).toEqual(['acknowledge', 'silence', 'announce']);
  });

  it('gives amounts as exact texts, as the daemon’s API does', async () => {
    const { structuredContent, content } = await reader.call('accounts');
    expect(structuredContent).toMatchObject({ accounts: [{ id: 'otp', balances: { sms: '12.345678' } }] });
    expect(JSON.parse(content[0]?.text ?? '')).toEqual(structuredContent);
    expect((await reader.call('why', { id: 'otp' })).structuredContent).toHaveProperty('explanations');
    for (const name of ['pay', 'review', 'alerts'])
      expect((await reader.call(name)).isError, name).toBeUndefined();
  });

  it('cuts a long list and says so', async () => {
    const { structuredContent } = await reader.call('history', { id: 'otp', limit: 1 });
    expect(structuredContent?.points).toHaveLength(1);
    const rows = await reader.call('query', {
      sql: 'WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n',
    });
    expect(rows.structuredContent).toMatchObject({ truncated: true, rows: { length: 200 } });
    const endless = await reader.call('query', {
      sql: 'WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT i, hex(zeroblob(50000)) FROM n',
    });
    expect(endless).toMatchObject({
      isError: true,
      content: [{ text: 'the answer is too large: select less, such as with LIMIT 200' }],
    });
  });

  it('answers what cannot be done in words, and changes nothing by a query', async () => {
    expect(await reader.call('account', { id: 'constructor' })).toMatchObject({
      isError: true,
      content: [{ text: 'There is no account of that id.' }],
    });
    expect(await reader.call('history', { account: 'otp' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^id is missing, account is no argument; there is "id", /) }],
    });
    expect(await reader.call('query', { sql: 'DELETE FROM alert' })).toMatchObject({ isError: true });
    for (const sql of ["SELECT '\0'", `SELECT '${'x'.repeat(200_000)}'`])
      expect(await reader.call('query', { sql })).toMatchObject({
        isError: true,
        content: [{ text: 'sql: give one SELECT of 100 kB at most, without NUL' }],
      });
    expect(await reader.call('acknowledge', { account: 'otp', rule: 'sms-low', by: 'kim' })).toMatchObject({
      isError: true,
    });
  });

  it('acts in the name of who asked, and refuses to act for nobody', async () => {
    const [alert] = ((await daemon.get('/api/v1/alerts')) as { alerts: { rule: string }[] }).alerts;
    const order = { account: 'otp', rule: alert?.rule };
    expect(await actor.call('acknowledge', order)).toMatchObject({ isError: true });
    expect((await actor.call('acknowledge', { ...order, by: 'kim' })).isError).toBeUndefined();
    expect(JSON.stringify(await daemon.get('/api/v1/audit'))).toContain('kim');
  });

  it('shows the configuration without its secrets, and the documents', async () => {
    const { result } = await reader.ask('resources/list');
    expect(JSON.stringify(result)).toContain('lowwater://docs/first-hour.md');
    const read = await reader.ask('resources/read', { uri: 'lowwater://configuration' });
    const text = JSON.stringify(read.result);
    expect(text).toContain('otp');
    expect(text).not.toContain(otpSecret);
    expect(
      (await reader.ask('resources/read', { uri: 'lowwater://docs/../package.json' })).error,
    ).toBeDefined();
  });

  it('prints nothing but the protocol, and ends when its input does', async () => {
    await reader.call('accounts');
    expect(await reader.close()).toBe(0);
    expect(reader.strays).toEqual([]);
  });

  it('ends a query that nobody waits for any more', async () => {
    const client = await new Client(bed.configFile, []).open();
    const endless =
      'WITH RECURSIVE step(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM step) SELECT count(*) FROM step';
    void client.ask('tools/call', { name: 'query', arguments: { sql: endless } });
    await client.call('accounts');
    const closedAt = performance.now();
    expect(await client.close()).toBe(0);
    // A query by itself may take 20 seconds.
    expect(performance.now() - closedAt).toBeLessThan(10_000);
  });

  it('neither asks nor tells a daemon of another version, whose answers are not of the form that it promises', async () => {
    const asked = new Set<string>();
    const service = await startHttpService({ port: 0, host: '127.0.0.1' }, (request, response) => {
      asked.add(request.url ?? '');
      response.setHeader('content-type', 'application/json');
      response.end('{"version":"9.9.0","timezone":"UTC","problems":[],"accounts":["otp"]}');
    });
    const client = await new Client(bed.configFile, ['--allow-acts', '--server', service.url]).open();
    const text = expect.stringContaining('the daemon runs lowwater 9.9.0');
    const order = { account: 'otp', rule: 'sms-low', by: 'kim' };
    for (const result of [await client.call('accounts'), await client.call('acknowledge', order)])
      expect(result).toMatchObject({ isError: true, content: [{ text }] });
    expect([...asked]).toEqual(['/api/v1/daemon']);
    await client.close();
    await service.close();
  });

  it('reads the database where no daemon runs, and acts on nothing there', async () => {
    await daemon.stop();
    const { structuredContent, content } = await actor.call('accounts');
    expect(structuredContent).toMatchObject({ accounts: [{ id: 'otp', balances: { sms: '12.345678' } }] });
    expect(content[1]?.text).toMatch(/^No daemon answers/);
    expect((await actor.call('review')).isError).toBeUndefined();
    expect(await actor.call('silence', { match: { account: 'otp' }, for: '1h', by: 'kim' })).toMatchObject({
      isError: true,
      content: [{ text: 'no daemon answers: acts need a running one' }],
    });
  });
});
