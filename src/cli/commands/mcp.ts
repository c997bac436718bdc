import { readdir, readFile } from 'node:fs/promises';
import type { CallToolResult, ListToolsResult } from '@modelcontextprotocol/server';
import { parseJson } from '../../domain/json.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import { ownOf } from '../../domain/own.ts';
import { listWords } from '../../wording/lists.ts';
import { type Backend, withBackend } from '../backend.ts';
import { type Command, CommandError, type CommandInput, exitCodes, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { askDaemon } from '../daemon/daemon-connection.ts';
import { differenceOf } from '../daemon/find-daemon.ts';
import { actingTools, readingTools, requestOf, type Tool, toolsOf } from '../mcp/tools.ts';

/** The most rows of a query that an assistant gets. */
const maxRows = 200;

export const mcpCommand: Command = {
  name: 'mcp',
  summary: 'serve assistants over the Model Context Protocol',
  details: `A Model Context Protocol server on standard input and output: started by an assistant, not by a person. Its tools read
accounts, alerts, the reasons behind them, payments, reviews and history from the running daemon, else from the database, and answer SQL that only reads.
Amounts are exact texts. With --allow-acts assistants may acknowledge, silence and announce top-ups at a running daemon; the audit names who asked.
docs/assistants.md connects clients.`,
  options: { 'allow-acts': { summary: 'let assistants acknowledge, silence and announce' } },
  asksDaemon: true,
  run: async (context, input) => {
    const { Server } = await import('@modelcontextprotocol/server');
    const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
    const ended = Promise.withResolvers<void>();
    const tools = await loadTools(context, input.flag('allow-acts'));
    const handle = serveStdio(() => {
      const server = new Server(
        { name: 'lowwater', title: 'lowwater', version: context.version },
        { capabilities: { tools: {}, resources: {} }, instructions },
      );
      server.setRequestHandler('tools/list', () => ({ tools: [...tools.map(shown), queryTool] }));
      server.setRequestHandler('tools/call', ({ params: { name, arguments: given = {} } }, { mcpReq }) =>
        answered(() =>
          name === queryTool.name
            ? query(input, given.sql, mcpReq.signal)
            : call(context, input, tools, { name, given }),
        ),
      );
      server.setRequestHandler('resources/list', async () => ({ resources: await documentsOf() }));
      server.setRequestHandler('resources/read', async ({ params: { uri } }) => ({
        contents: [await readDocument(uri, () => runSelf(['validate', '--json', ...configOf(input)]))],
      }));
      server.onclose = ended.resolve;
      return server;
    });
    process.stdin.once('end', ended.resolve);
    context.signal.addEventListener('abort', () => ended.resolve());
    await ended.promise;
    await handle.close();
    return exitCodes.ok;
  },
};

const instructions =
  'lowwater watches prepaid balances. What is null is not known: never take it for good news. Amounts are exact decimal texts in the currency beside them; instants are ISO 8601 UTC.';

const queryTool = {
  name: 'query',
  title: 'Read-only SQL',
  description: `One SELECT over the SQLite database: reading(account, at, sms, voip, currency), balance(account, at, balance, amount, currency), poll(account, at, outcome). At most ${maxRows} rows are shown.`,
  inputSchema: { type: 'object', properties: { sql: { type: 'string' } }, required: ['sql'] },
  outputSchema: {
    type: 'object',
    properties: {
      rows: { type: 'array', items: { type: 'object' } },
      truncated: { type: 'boolean', description: 'More rows were found than are shown' },
    },
    required: ['rows', 'truncated'],
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
} as const satisfies ListToolsResult['tools'][number];

/** Makes the tools from the API of this version. A daemon of another minor version is not asked. */
async function loadTools({ version, clock }: CommandContext, mayAct: boolean): Promise<readonly Tool[]> {
  const { openLocalApi } = await import('../../http/api/local-api.ts');
  const api = openLocalApi({ version, now: clock.now(), timezone: 'UTC', views: null });
  const { body } = await api('/api/v1/openapi.json');
  return toolsOf(body, mayAct ? [...readingTools, ...actingTools] : readingTools);
}

function shown({ name, title, description, inputSchema, outputSchema, method }: Tool) {
  const isReading = method === 'GET';
  const annotations = {
    readOnlyHint: isReading,
    destructiveHint: false,
    idempotentHint: isReading,
    openWorldHint: false,
  };
  return { name, title, description, inputSchema, outputSchema, annotations };
}

/** The result of a tool, with a note that is needed to understand it. */
interface Found {
  readonly found: object;
  readonly note?: string;
}

/** A failure with a reason for people becomes a result of the tool. Any other error is one of the protocol. */
async function answered(work: () => Promise<Found>): Promise<CallToolResult> {
  try {
    const { found, note } = await work();
    const texts = [JSON.stringify(found), ...(note === undefined ? [] : [note])];
    return { content: texts.map((text) => ({ type: 'text', text })), structuredContent: { ...found } };
  } catch (error) {
    if (!(error instanceof OperatorError || error instanceof UsageError)) throw error;
    return { content: [{ type: 'text', text: error.message }], isError: true };
  }
}

async function call(
  context: CommandContext,
  input: CommandInput,
  tools: readonly Tool[],
  { name, given }: { readonly name: string; readonly given: Readonly<Record<string, unknown>> },
): Promise<Found> {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) throw new CommandError(`there is no tool ${name}`);
  const by = typeof given.by === 'string' ? given.by.trim() : '';
  if (tool.method === 'POST' && by === '') throw new CommandError('by: say who asked for it');
  refuseArguments(tool, given);
  return withBackend(context, input, (backend) => ask(context, backend, tool, given));
}

function refuseArguments({ inputSchema }: Tool, given: Readonly<Record<string, unknown>>): void {
  const { properties, required } = inputSchema;
  const known = Object.keys(Object(properties));
  const wrong = [
    ...(required as readonly string[]).flatMap((name) =>
      ownOf(given, name) == null ? [`${name} is missing`] : [],
    ),
    ...Object.keys(given).flatMap((name) => (known.includes(name) ? [] : [`${name} is no argument`])),
  ];
  if (wrong.length > 0)
    throw new CommandError(`${wrong.join(', ')}; there is ${listWords(known, 'and') || 'none'}`);
}

async function ask(
  context: CommandContext,
  backend: Backend,
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
): Promise<Found> {
  const request = requestOf(tool, given);
  const { daemon } = backend;
  const difference = daemon?.facts ? differenceOf(daemon.facts, context) : null;
  if (daemon !== null && daemon.facts !== null && difference === null) {
    const answer = await askDaemon(daemon, { ...request, patienceMs: 60_000 });
    if (answer.kind === 'refused') throw new CommandError(answer.message);
    if (answer.kind === 'answered') return { found: answer.body as object };
  }
  if (tool.method === 'POST')
    throw new CommandError(difference ?? 'no daemon answers: acts need a running one');
  const { openLocalApi } = await import('../../http/api/local-api.ts');
  const { version, clock } = context;
  const views = await backend.storedViews();
  const api = openLocalApi({ version, now: clock.now(), timezone: backend.timezone, views });
  const { status, body } = await api(request.path);
  if (status >= 400) throw new CommandError(String(Reflect.get(Object(body), 'detail') ?? 'refused'));
  // Without a daemon, nobody updates the database: that nothing fires in it says nothing about now.
  const left = 'No daemon answers: this is what the database was left with, not what is now.';
  return { found: body as object, note: difference === null ? left : `${difference}: from its database.` };
}

/** A longer answer is of no use to a reader. */
const maxAnswerBytes = 16 * 1024 * 1024;

/** Less than the longest command-line argument that the system accepts. */
const maxQueryBytes = 100_000;

/** Runs the query in its own process. A query that does not end, or that nobody waits for, is ended there, and the assistant's server goes on. */
async function query(input: CommandInput, sql: unknown, signal: AbortSignal): Promise<Found> {
  if (typeof sql !== 'string' || sql.includes('\0') || Buffer.byteLength(sql) > maxQueryBytes)
    throw new CommandError('sql: give one SELECT of 100 kB at most, without NUL');
  const words = ['query', '--json', '--timeout', '20s', ...configOf(input), '--', sql];
  const printed = await runSelf(words, signal);
  const rows = parseJson(printed);
  if (!Array.isArray(rows)) throw new CommandError('the query answered nothing that can be read');
  return { found: { rows: rows.slice(0, maxRows), truncated: rows.length > maxRows } };
}

function configOf(input: CommandInput): readonly string[] {
  const file = input.option('config');
  return file === null ? [] : ['--config', file];
}

/** A command's message without its advice on options, which an assistant cannot give. */
export function withoutOptions(words: string): string {
  return words.trim().replace(/, or raise --timeout$/, ', by account and time');
}

/** The output of another command of this same program. Throws `CommandError` with its message if it fails. */
async function runSelf(words: readonly string[], signal?: AbortSignal): Promise<string> {
  const { execFile } = process.getBuiltinModule('node:child_process');
  const [program = ''] = process.argv.slice(1);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  execFile(
    process.execPath,
    [...process.execArgv, program, ...words],
    { signal, maxBuffer: maxAnswerBytes, env: { ...process.env, NO_COLOR: '1' } },
    (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
        reject(new CommandError('the answer is too large: select less, such as with LIMIT 200'));
      else reject(new CommandError(withoutOptions(stderr) || 'the command failed'));
    },
  );
  return promise;
}

const configuration = 'lowwater://configuration';
const prefix = 'lowwater://docs/';
const folder = new URL('../../../docs/', import.meta.url);

/** The configuration as understood, and the documents that were installed with the program. A container image has none. */
async function documentsOf() {
  const names = await readdir(folder).catch(() => []);
  return [
    {
      uri: configuration,
      name: 'configuration',
      title: 'The configuration as understood, secrets hidden',
      mimeType: 'application/json',
    },
    ...names
      .filter((name) => name.endsWith('.md'))
      .map((name) => ({ uri: prefix + name, name, mimeType: 'text/markdown' })),
  ];
}

async function readDocument(uri: string, describeConfiguration: () => Promise<string>) {
  if (uri === configuration)
    return { uri, mimeType: 'application/json', text: await describeConfiguration() };
  const name = uri.startsWith(prefix) ? uri.slice(prefix.length) : '';
  const known = await documentsOf();
  if (!known.some((document) => document.uri === uri)) throw new CommandError(`there is no resource ${uri}`);
  return { uri, mimeType: 'text/markdown', text: await readFile(new URL(name, folder), 'utf8') };
}
