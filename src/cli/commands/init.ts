import { accessSync, constants, existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isUnencrypted } from '../../domain/addresses.ts';
import { formatAmount } from '../../domain/money.ts';
import { ownOf } from '../../domain/own.ts';
import { cleanText } from '../../domain/plain-text.ts';
import { parseDuration } from '../../domain/time.ts';
import { type Command, CommandError, type CommandInput, exitCodes, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { askChannels } from '../init/ask-channels.ts';
import { type Ask, createAsker, stopped, typedCredentials, written } from '../init/asker.ts';
import { alreadyThere, explainWriting, format } from '../init/new-file.ts';
import { loadConfiguration } from '../load-configuration.ts';
import { readChoice, suggest } from '../read-options.ts';
import { shellWord } from '../terminal/text.ts';
import { describeProviders } from './providers.ts';

type Service = 'systemd' | 'compose' | 'kubernetes';

export const initCommand: Command = {
  name: 'init',
  summary: 'write a first configuration, after trying the key',
  details: `Asks on a terminal for what no option names, and again after a wrong answer. Asks the provider for the balance of the key,
and writes nothing when the key is refused. Writes ./config.json, or what --config names, for its owner alone (mode 0600), with rules for
each balance that is not 0 and a token for page and API; never over a file that is there.

env:NAME and file:/path in place of a key or the address of a channel leave the secret where it is; otherwise it is written into the file. What
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
    service: {
      value: 'KIND',
      summary:
        'systemd, compose or kubernetes: write what runs this installation as a service, beside the configuration, which may be there already',
    },
    test: { summary: 'send a test message to the channel' },
  },
  examples: [
    'lowwater init',
    'lowwater init --url https://api.example.com --key env:OTP_AUTH_SECRET --channel env:SLACK_WEBHOOK_URL',
  ],
  run: async (context, input) => {
    const given = input.option('config') ?? (context.env.LOWWATER_CONFIG || null);
    const file = resolve(context.cwd, given ?? 'config.json');
    const service = readChoice(input, 'service', ['systemd', 'compose', 'kubernetes']);
    if (existsSync(file)) {
      if (await writeService(context, service, file)) return exitCodes.ok;
      throw alreadyThere(file);
    }
    const sheet = input.option('from');
    const ownColumn = ['provider', 'url', 'key', 'account'].find((name) => input.option(name) !== null);
    const unused = input.options('credential').length > 0 ? 'credential' : ownColumn;
    if (sheet !== null && unused !== undefined)
      throw new UsageError(`--${unused} cannot be used with --from: each line says it in a column`);
    explainWriting(file, () => accessSync(dirname(file), constants.W_OK));
    let wasRefused = false;
    const ask = createAsker(context, input, () => wasRefused);
    const { base, leadTime } = await askBase(context, input, ask);
    const result = { file, named: given, service, channel: Object.keys(base.channels)[0] };
    if (sheet !== null) {
      const { writeFromAccounts } = await import('../init/from-accounts.ts');
      const order = { file, sheet, base, leadTime, routeBy: input.option('route-by') };
      const kinds = await describeProviders();
      await context.stdout.write(await writeFromAccounts(context, { ...order, kinds }));
      return finish(context, input, result);
    }
    while (!(await writeOneAccount(context, input, { file, base, leadTime, ask }))) wasRefused = true;
    return finish(context, input, result);
  },
};

/** False if the provider refused the key and a person may enter another one: the file is removed then. */
async function writeOneAccount(
  context: CommandContext,
  input: CommandInput,
  given: Awaited<ReturnType<typeof askBase>> & { readonly file: string; readonly ask: Ask },
): Promise<boolean> {
  const { file, base, leadTime, ask } = given;
  const account = input.option('account') ?? 'main';
  const { accounts: asked, ...provider } = await askProvider(input, ask, account);
  const accounts = asked.map((each) => ({ ...each, ...(leadTime === '' ? {} : { leadTime }) }));
  const { suggestRules, suggestUnread } = await import('../../rules/registry.ts');
  const about = { hasLeadTime: leadTime !== '' };
  const config = { ...base, ...provider, accounts, rules: [suggestUnread(about)] };
  // Readable by its owner alone, because it holds secrets.
  explainWriting(file, () => writeFileSync(file, format(config), { flag: 'wx', mode: 0o600 }));
  const tried = await tryKey(context, input, account).catch((error: unknown) => {
    rmSync(file);
    throw error;
  });
  if (tried.kind === 'refused') {
    rmSync(file);
    const message = 'the provider refused the key; nothing was written';
    if (context.ask === null) throw new CommandError(message);
    await context.stderr.write(`${message}: try again\n`);
    return false;
  }
  if (tried.kind === 'unknown') {
    const note = 'The file has one rule, for the runway: add those for low balances.';
    await context.stderr.write(`warning: the key could not be tried: ${tried.reason}\n${note}\n`);
    return true;
  }
  const read = accounts.map((each) => ({ ...each, currency: tried.currency }));
  const rules = suggestRules(tried.balances, about);
  explainWriting(file, () => writeFileSync(file, format({ ...config, accounts: read, rules })));
  await context.stdout.write(`The provider answered: ${tried.text}.\n`);
  return true;
}

/** Asks for the parts of the configuration other than providers, accounts and rules. */
async function askBase(context: CommandContext, input: CommandInput, ask: Ask) {
  const channels = await askChannels(context, input, ask);
  const publicUrl = await ask('public-url', 'Address of the page for links in messages (empty: none)', {
    optional: true,
    check: checkPublicUrl,
  });
  const howLong = 'How long a payment takes to arrive, such as 2d (empty: not known)';
  const leadTime = await ask('lead-time', howLong, {
    optional: true,
    check: (text) => (parseDuration(text) === null ? '--lead-time must be a duration such as 2d' : null),
  });
  const base = {
    ...schemaKey(),
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    channels,
    server: { token: context.random.bytes(24).toString('hex'), ...(publicUrl === '' ? {} : { publicUrl }) },
  };
  return { base, leadTime };
}

/** Asks for the provider and the account. Returns their part of the file. */
async function askProvider(input: CommandInput, ask: Ask, id: string) {
  const kinds = await describeProviders();
  const [usual] = kinds;
  const known = kinds.flatMap((kind) => (kind.details === null && kind !== usual ? [] : kind.type));
  const type =
    input.option('url') !== null && input.option('provider') === null
      ? usual?.type
      : await ask('provider', `Provider (a TYPE of "lowwater providers"; empty: ${usual?.type})`, {
          optional: true,
          check: (text) => (known.includes(text) ? null : `--provider ${text}: ${suggest(text, known)}`),
        });
  const chosen = kinds.find((kind) => kind.type === type) ?? usual;
  const asked = chosen?.credentials ?? [];
  const typed = typedCredentials(input, asked);
  if (chosen === undefined || chosen === usual) {
    const baseUrl = await ask('url', 'Base address of the provider (https://…)', { check: checkUrl });
    const key = await ask('key', 'Key (authSecret), or env:NAME, or file:/path', { hidden: true });
    return { provider: { baseUrl }, accounts: [{ id, authSecret: written(key) }] };
  }
  const key = asked.length === 1 ? input.option('key') : null;
  const credentials: Record<string, string> = {};
  for (const { name, label } of asked) {
    const option = asked.length === 1 ? 'key' : `credential ${name}=…`;
    credentials[name] = written(await ask(option, label, { hidden: true, typed: typed.get(name) ?? key }));
  }
  const { type: entry } = chosen;
  // A base address for a region, a gateway or a simulator: the key is sent there and nowhere else.
  const needed = chosen.details?.baseUrl ?? null;
  const isAsked = input.option('url') !== null || needed !== null;
  const question = `Base address of the provider (${needed})`;
  const baseUrl = isAsked ? { baseUrl: await ask('url', question, { check: checkUrl }) } : {};
  return {
    providers: { [entry]: { type: entry, ...baseUrl } },
    accounts: [{ id, provider: entry, credentials }],
  };
}

async function checkPublicUrl(text: string): Promise<string | null> {
  const { hostAddress } = await import('../../schema/addresses.ts');
  const [issue] = hostAddress('').safeParse(text).error?.issues ?? [];
  return issue === undefined ? null : `--public-url ${issue.message}`;
}

function checkUrl(text: string): string | null {
  if (isUnencrypted(text))
    return '--url must start with https://: http:// would send the key unencrypted to another machine';
  return /^https?:\/\/./.test(text) ? null : '--url must start with https:// or http://';
}

/** Writes the files for a service; false if none was ordered. */
async function writeService(context: CommandContext, kind: Service | null, file: string): Promise<boolean> {
  if (kind === null) return false;
  const { services } = await import('../init/write-service.ts');
  await context.stdout.write(await services[kind](context, file));
  return true;
}

/** The key by which editors complete and check the file, if the schema was installed with the program. */
function schemaKey(): { readonly $schema?: string } {
  const file = fileURLToPath(new URL('../../../config.schema.json', import.meta.url));
  return existsSync(file) ? { $schema: file } : {};
}

/** Tries the key. Throws if the file that was just written is not valid, or if nobody waits for the answer any more. */
async function tryKey(context: CommandContext, input: CommandInput, account: string) {
  const { settings } = await loadConfiguration(context, input);
  const { checkHere } = await import('../act-here.ts');
  const [checked] = await checkHere(context, { settings, account });
  if (context.signal.aborted) throw stopped();
  if (checked?.outcome === 'auth_failed') return { kind: 'refused' } as const;
  const reading = checked?.outcome === 'ok' ? checked.view.reading : null;
  if (checked === undefined || reading === null)
    return { kind: 'unknown', reason: cleanText(checked?.reason ?? 'no answer', 300) } as const;
  const { currency, balances } = reading;
  const read = checked.view.balances.map(({ id: balance, label }) => {
    return { balance, label, micros: ownOf(balances, balance) ?? 0 };
  });
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
  result: {
    readonly file: string;
    readonly named: string | null;
    readonly service: Service | null;
    readonly channel: string | undefined;
  },
): Promise<number> {
  const { file, named, service, channel } = result;
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
  const suffix = named === null ? '' : ` --config ${shellWord(named)}`;
  await context.stdout.write(
    `${file} is written. Next: ${isWanted ? '' : `lowwater test-channel ${channel}${suffix}, then `}lowwater run${suffix}.\nThe page asks for the token in the file (server.token).\n`,
  );
  await writeService(context, service, file);
  return exitCodes.ok;
}
