import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ChannelKind } from '../../channels/kind.ts';
import { parseDuration } from '../../domain/duration.ts';
import { formatAmount } from '../../domain/money.ts';
import { ownOf } from '../../domain/own.ts';
import { cleanText } from '../../domain/plain-text.ts';
import { type Command, CommandError, type CommandInput, exitCodes, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { loadConfiguration } from '../load-configuration.ts';
import { suggest } from '../read-options.ts';
import { describeProviders } from './providers.ts';

export const initCommand: Command = {
  name: 'init',
  summary: 'write a first configuration, after trying the key',
  details: `Asks on a terminal for what no option names, and again after a wrong answer. Asks the provider for the balance of the key,
and writes nothing when the key is refused. Writes ./config.json, or what --config names, for its owner alone (mode 0600), with a rule for
each balance that is not 0 and a token for page and API; never over a file that is there.

env:NAME and file:/path in place of a key or an address leave the secret where it is; otherwise it is written into the file. What
stands on the command line shows in lists of processes.

--from takes a CSV file whose first line names its columns: id and credentials (env:NAME or file:/path; of several
"name=env:NAME name=env:NAME"), and as needed provider (a TYPE of "lowwater providers"), url, labels ("team=growth env=prod"), thresholds of the first
balance ("warning=200 critical=50"), name, currency, timezone, leadTime, note, topUpUrl, runbookUrl. It asks no provider: "lowwater check" does.`,
  options: {
    provider: { value: 'TYPE', summary: 'the kind of provider, as "lowwater providers" lists them' },
    url: {
      value: 'URL',
      summary: 'base address of the provider; of other kinds the one to ask in place of their own',
    },
    key: { value: 'KEY', summary: 'the key, or env:NAME, or file:/path' },
    credential: {
      value: 'NAME=KEY',
      summary: 'one of several credentials, where the kind of provider asks for more; may be repeated',
      repeatable: true,
    },
    from: { value: 'ACCOUNTS.csv', summary: 'take the accounts of a spreadsheet, and write accounts.d/ too' },
    channel: {
      value: '[NAME=]URL',
      summary:
        'where messages go: a webhook address, or smtps://user:password@host; with --from one for each NAME',
      repeatable: true,
    },
    'channel-type': { value: 'TYPE', summary: 'the kind of channel, where several have such an address' },
    'route-by': {
      value: 'LABEL',
      summary: 'with --from: accounts with LABEL=value go to the channel that is called so',
    },
    to: { value: 'ADDRESS', summary: 'who gets the mails, with an smtp address' },
    account: { value: 'ID', summary: 'what the account is called; default main' },
    'public-url': { value: 'URL', summary: 'address of the page as people reach it: messages link to it' },
    'lead-time': { value: 'TIME', summary: 'how long a payment takes to arrive, such as 2d' },
    test: { summary: 'send a test message to the channel' },
  },
  examples: [
    'lowwater init',
    'lowwater init --url https://api.example.com --key env:OTP_AUTH_SECRET --channel env:SLACK_WEBHOOK_URL',
  ],
  run: async (context, input) => {
    const given = input.option('config') ?? (context.env.LOWWATER_CONFIG || null);
    const file = resolve(context.cwd, given ?? 'config.json');
    if (existsSync(file)) throw alreadyThere(file);
    let wasRefused = false;
    const ask = createAsker(context, input, () => wasRefused);
    const channels = await askChannels(context, input, ask);
    const publicUrl = await ask('public-url', 'Address of the page for links in messages (empty: none)', {
      optional: true,
    });
    const leadTime = await ask(
      'lead-time',
      'How long a payment takes to arrive, such as 2d (empty: not known)',
      {
        optional: true,
        check: (text) => (parseDuration(text) === null ? '--lead-time must be a duration such as 2d' : null),
      },
    );
    const base = {
      ...schemaKey(),
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      channels,
      server: {
        token: context.random.bytes(24).toString('hex'),
        ...(publicUrl === '' ? {} : { publicUrl }),
      },
    };
    const sheet = input.option('from');
    if (sheet !== null) {
      const { writeFromAccounts } = await import('../init/from-accounts.ts');
      const kinds = await describeProviders();
      const routeBy = input.option('route-by');
      await context.stdout.write(
        await writeFromAccounts(context, { file, sheet, kinds, base, routeBy, leadTime }),
      );
      await finish(context, input, { file, named: given, channel: Object.keys(channels)[0] });
      return exitCodes.ok;
    }
    const account = input.option('account') ?? 'main';
    for (;;) {
      const config = { ...base, ...(await askProvider(input, ask, account)), rules: [] };
      writeNew(file, config);
      const tried = await tryKey(context, input, account).catch((error: unknown) => {
        rmSync(file);
        throw error;
      });
      if (tried.kind === 'refused') {
        rmSync(file);
        const message = 'the provider refused the key; nothing was written';
        if (context.ask === null || context.signal.aborted) throw new CommandError(message);
        await context.stderr.write(`${message}: try again\n`);
        wasRefused = true;
        continue;
      }
      if (tried.kind === 'unknown')
        await context.stderr.write(`warning: the key could not be tried: ${tried.reason}\n`);
      else {
        const { suggestRules } = await import('../../rules/registry.ts');
        const known = { currency: tried.currency, ...(leadTime === '' ? {} : { leadTime }) };
        const accounts = config.accounts.map((each) => ({ ...each, ...known }));
        const rules = suggestRules(tried.balances, { hasLeadTime: leadTime !== '' });
        writeFileSync(file, format({ ...config, accounts, rules }));
        await context.stdout.write(`The provider answered: ${tried.text}.\n`);
      }
      await finish(context, input, { file, named: given, channel: Object.keys(channels)[0] });
      return exitCodes.ok;
    }
  },
};

interface Question {
  readonly hidden?: boolean;
  /** May be answered with nothing. */
  readonly optional?: boolean;
  /** What was typed with the command, where that is not the option of the question's name. */
  readonly typed?: string | undefined;
  /** What is wrong with an answer; null where nothing is. */
  readonly check?: (answer: string) => string | null | Promise<string | null>;
}

/** The answer that was typed with the command, else the person's, who is asked again while it cannot be taken; empty for none. */
type Ask = (name: string, question: string, how?: Question) => Promise<string>;

/** `wasRefused`: the key that was typed with the command was, and the person is asked for it. */
export function createAsker(
  { ask, signal, stderr }: Pick<CommandContext, 'ask' | 'signal' | 'stderr'>,
  input: Pick<CommandInput, 'option'>,
  wasRefused: () => boolean,
): Ask {
  return async (name, question, how = {}) => {
    const { hidden = false, typed } = how;
    const option = hidden && wasRefused() ? null : (typed ?? input.option(name));
    for (;;) {
      const answer = (option ?? (await ask?.(question, hidden)) ?? '').trim();
      if (signal.aborted) throw new CommandError('stopped; nothing was written');
      const problem = await findProblem(name, answer, how);
      if (problem === null) return answer;
      const hint = ask === null ? 'without a terminal, options say everything' : null;
      if (option !== null || hint !== null) throw new UsageError(problem, hint);
      await stderr.write(`${problem}\n`);
    }
  };
}

async function findProblem(name: string, answer: string, { optional, check }: Question) {
  if (answer === '') return optional === true ? null : `--${name} is missing`;
  return (await check?.(answer)) ?? null;
}

/** Those that stand on the command line by their names; else one, called main, which may be asked for. */
async function askChannels(
  context: CommandContext,
  input: CommandInput,
  ask: Ask,
): Promise<Readonly<Record<string, object>>> {
  const named = input.options('channel').map((text) => /^([a-z0-9][a-z0-9-]*)=(.+)$/.exec(text) ?? [text]);
  const [first, ...others] = named.map(([text, name = 'main', address = text]) => [name, address] as const);
  const type = input.option('channel-type');
  const [name, typed] = first ?? ['main'];
  const channels = [[name, await askChannel(context, ask, { typed, type })]];
  for (const [name, typed] of others) channels.push([name, await askChannel(context, ask, { typed, type })]);
  if (new Set(channels.map(([name]) => name)).size < channels.length)
    throw new UsageError('each --channel needs a name of its own: --channel NAME=URL');
  return Object.fromEntries(channels);
}

async function askChannel(
  context: CommandContext,
  ask: Ask,
  { typed, type }: { readonly typed: string | undefined; readonly type: string | null },
): Promise<object> {
  const at = (answer: string) => channelAt(resolveNamed(context, answer), type);
  const of = type === null ? '' : ` of --channel-type ${type}`;
  const wrong = `--channel must be an https:// webhook or smtps:// address${of}, or env:NAME with one`;
  const answer = await ask('channel', 'Where messages go (a webhook address, smtps://…, or env:NAME)', {
    check: async (text) => ((await at(text)) === null ? wrong : null),
    ...(typed === undefined ? {} : { typed }),
  });
  const found = await at(answer);
  if (found === null) throw new UsageError(wrong);
  const address = resolveNamed(context, answer);
  const keys = Object.entries(found.keys).map(([key, value]) => [
    key,
    value === URL.parse(address)?.href || value === address ? written(answer) : value,
  ]);
  const { recipients } = found;
  const to = recipients === undefined ? [] : [[recipients.key, [await ask('to', recipients.question)]]];
  return Object.fromEntries([...keys, ...to]);
}

/** What stands in the file for a channel to this address, of a type if one is given; null where no kind has such. */
async function channelAt(text: string, type: string | null) {
  const { channelKinds } = await import('../../channels/registry.ts');
  const address = URL.parse(text);
  const kinds = channelKinds.filter((kind) => type === null || kind.type === type);
  const found = kinds.flatMap((kind) => {
    const its = address && (kind.keysAt?.(address) ?? (type === null ? null : ownKeysAt(kind, address)));
    return its === null ? [] : [{ ...its, keys: { type: kind.type, ...its.keys } }];
  });
  return found.find(({ isCertain }) => isCertain) ?? found[0] ?? null;
}

/** Of a kind that was named: a server of one's own is known by no host. */
function ownKeysAt(
  { schema }: ChannelKind,
  { href, protocol }: URL,
): ReturnType<NonNullable<ChannelKind['keysAt']>> {
  const key = ['webhookUrl', 'url'].find((name) => name in schema.shape);
  return key === undefined || !/^https?:$/.test(protocol) ? null : { keys: { [key]: href }, isCertain: true };
}

/** The file's part about provider and account. */
async function askProvider(input: CommandInput, ask: Ask, id: string) {
  const kinds = await describeProviders();
  const [usual] = kinds;
  const known = kinds.flatMap(({ type, details }) => (details === null ? [] : type));
  const type =
    input.option('url') !== null && input.option('provider') === null
      ? usual?.type
      : await ask('provider', `Provider (a TYPE of "lowwater providers"; empty: ${usual?.type})`, {
          optional: true,
          check: (text) => (known.includes(text) ? null : `--provider ${text}: ${suggest(text, known)}`),
        });
  const chosen = kinds.find((kind) => kind.type === type) ?? usual;
  if (chosen === undefined || chosen === usual) {
    const baseUrl = await ask('url', 'Base address of the provider (https://…)', { check: checkUrl });
    const key = await ask('key', 'Key (authSecret), or env:NAME, or file:/path', { hidden: true });
    return { provider: { baseUrl }, accounts: [{ id, authSecret: written(key) }] };
  }
  const pairs = input.options('credential').map((pair) => pair.split(/=(.*)/s));
  const typed = new Map(pairs.map(([name = '', key = name]) => [name, key]));
  const credentials: Record<string, string> = {};
  for (const { name, label } of chosen.credentials) {
    const option = chosen.credentials.length === 1 ? 'key' : `credential ${name}=…`;
    credentials[name] = written(await ask(option, label, { hidden: true, typed: typed.get(name) }));
  }
  const { type: entry } = chosen;
  // A region, a gateway or a simulator: the key goes there and nowhere else.
  const baseUrl = input.option('url') === null ? {} : { baseUrl: await ask('url', '', { check: checkUrl }) };
  return {
    providers: { [entry]: { type: entry, ...baseUrl } },
    accounts: [{ id, provider: entry, credentials }],
  };
}

function checkUrl(text: string): string | null {
  return /^https?:\/\/./.test(text) ? null : '--url must start with https:// or http://';
}

/** Lets editors complete and check the file, where the schema came with the program. */
function schemaKey(): { readonly $schema?: string } {
  const file = fileURLToPath(new URL('../../../config.schema.json', import.meta.url));
  return existsSync(file) ? { $schema: file } : {};
}

/** What the file says for an answer: a placeholder for what is named, else the text with its placeholders escaped. */
function written(answer: string): string {
  return /^(?:env|file):./.test(answer) ? `\${${answer}}` : answer.replaceAll('${', '$${');
}

/** The value of a variable that an answer names; any other answer itself. */
function resolveNamed({ env }: CommandContext, answer: string): string {
  const name = /^env:(.+)$/.exec(answer)?.[1];
  return name === undefined ? answer : (ownOf(env, name) ?? '');
}

function format(config: object): string {
  return `${JSON.stringify(config, null, 2)}\n`;
}

function alreadyThere(file: string): UsageError {
  return new UsageError(`${file} exists; init never writes over a file`);
}

/** For its owner alone: it holds secrets. */
function writeNew(file: string, config: object): void {
  try {
    writeFileSync(file, format(config), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : null;
    if (code === 'EEXIST') throw alreadyThere(file);
    if (code === null) throw error;
    throw new CommandError(`${dirname(file)} cannot be written to: ${code}`);
  }
}

/** Throws where the file that was just written is not valid. */
async function tryKey(context: CommandContext, input: CommandInput, account: string) {
  const { settings } = await loadConfiguration(context, input);
  const { checkHere } = await import('../act-here.ts');
  const [checked] = await checkHere(context, { settings, account });
  if (checked?.outcome === 'auth_failed') return { kind: 'refused' } as const;
  const reading = checked?.outcome === 'ok' ? checked.view.reading : null;
  if (checked === undefined || reading === null)
    return { kind: 'unknown', reason: cleanText(checked?.reason ?? 'no answer', 300) } as const;
  const { currency, balances } = reading;
  const read = checked.view.balances.map(({ id, label }) => ({
    balance: id,
    label,
    micros: ownOf(balances, id) ?? 0,
  }));
  const text = read.map(({ label, micros }) => `${label} ${formatAmount(micros, currency)}`).join(', ');
  const used = read.filter(({ micros }) => micros !== 0);
  return {
    kind: 'read',
    currency: currency.trim(),
    text: cleanText(text, 200),
    balances: used.length > 0 ? used : read.slice(0, 1),
  } as const;
}

async function finish(
  context: CommandContext,
  input: CommandInput,
  {
    file,
    named,
    channel,
  }: { readonly file: string; readonly named: string | null; readonly channel: string | undefined },
): Promise<void> {
  const isWanted =
    input.flag('test') || /^y/i.test((await context.ask?.('Send a test message now? (y/N)', false)) ?? '');
  if (isWanted) {
    const { settings } = await loadConfiguration(context, input);
    const [channel] = settings.channels;
    if (channel !== undefined) {
      const { sendTest } = await import('../act-here.ts');
      const { delivery } = await sendTest(settings, channel, context.signal);
      const said =
        delivery.kind === 'delivered' ? 'delivered' : `not delivered: ${cleanText(delivery.reason, 300)}`;
      await context.stdout.write(`Test message: ${said}.\n`);
    }
  }
  const suffix = named === null ? '' : ` --config ${named}`;
  await context.stdout.write(
    `${file} is written. Next: ${isWanted ? '' : `lowwater test-channel ${channel}${suffix}, then `}lowwater run${suffix}.\nThe page asks for the token in the file (server.token).\n`,
  );
}
