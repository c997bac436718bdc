import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { formatAmount } from '../../domain/money.ts';
import { cleanText } from '../../domain/plain-text.ts';
import { amountOf } from '../../domain/reading.ts';
import { type Command, CommandError, type CommandInput, exitCodes, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { loadConfiguration } from '../load-configuration.ts';

export const initCommand: Command = {
  name: 'init',
  summary: 'write a first configuration, after trying the key',
  details: `Asks on a terminal for what no option names. Asks the provider for the balance of the key, and writes nothing when the key is
refused. Writes ./config.json, or what --config names, for its owner alone (mode 0600), with a token for page and API; never over
a file that is there.

--key env:NAME and --key file:/path leave the key where it is; the key itself is written into the file. Keys that stand on the
command line show in lists of processes.`,
  options: {
    url: { value: 'URL', summary: 'base address of the provider' },
    key: { value: 'KEY', summary: 'the key (authSecret), or env:NAME, or file:/path' },
    channel: { value: 'URL', summary: 'where messages go: a webhook address, or smtps://user:password@host' },
    to: { value: 'ADDRESS', summary: 'who gets the mails, with an smtp address' },
    account: { value: 'ID', summary: 'what the account is called; default main' },
  },
  examples: [
    'lowwater init',
    'lowwater init --url https://api.example.com --key env:OTP_AUTH_SECRET --channel https://hooks.slack.com/services/…',
  ],
  run: async (context, input) => {
    const file = resolve(
      context.cwd,
      input.option('config') ?? (context.env.LOWWATER_CONFIG || 'config.json'),
    );
    if (existsSync(file)) throw alreadyThere(file);
    const answers = await gatherAnswers(context, input);
    const config = buildConfiguration(context, answers);
    writeNew(file, config);
    let balance: TriedKey;
    try {
      balance = await tryKey(context, input);
    } catch (error) {
      rmSync(file);
      throw error;
    }
    if (balance.kind === 'read') {
      const [account] = config.accounts;
      const known = { ...config, accounts: [{ ...account, currency: balance.currency }] };
      writeFileSync(file, formatConfiguration(known));
      await context.stdout.write(`The provider answered: ${balance.text}.\n`);
    } else {
      await context.stderr.write(`warning: the key could not be tried: ${balance.reason}\n`);
    }
    await context.stdout.write(
      `${file} is written. Next: lowwater test-channel main, then lowwater run.\nThe page asks for the token in the file (server.token).\n`,
    );
    return exitCodes.ok;
  },
};

interface Answers {
  readonly url: string;
  readonly key: string;
  readonly account: string;
  readonly channel: object;
}

async function gatherAnswers(context: CommandContext, input: CommandInput): Promise<Answers> {
  const askFor = async (name: string, question: string, hidden = false): Promise<string> => {
    const given = input.option(name) ?? (context.ask === null ? null : await context.ask(question, hidden));
    if (given !== null && given.trim() !== '') return given.trim();
    if (context.signal.aborted) throw new CommandError('given up; nothing was written');
    const hint = context.ask === null ? 'without a terminal to ask on, options say everything' : null;
    throw new UsageError(`--${name} is missing`, hint);
  };
  const url = await askFor('url', 'Base address of the provider (https://…): ');
  const key = await askFor('key', 'Key (authSecret), or env:NAME, or file:/path: ', true);
  const address = await askFor('channel', 'Where messages go (a webhook address, or smtps://…): ');
  const found = await context.rooms.channelAt(address);
  if (found === null)
    throw new UsageError('--channel is no address that a channel could have: https://… or smtps://…');
  const channel = 'smtpUrl' in found ? { ...found, to: [await askFor('to', 'Who gets the mails: ')] } : found;
  return { url, key, account: input.option('account') ?? 'main', channel };
}

function buildConfiguration({ random }: CommandContext, { url, key, account, channel }: Answers) {
  return {
    provider: { baseUrl: url },
    accounts: [
      { id: account, authSecret: /^(?:env|file):./.test(key) ? `\${${key}}` : escapePlaceholder(key) },
    ],
    rules: [{ id: 'sms-runway', type: 'runway', thresholds: { warning: '7d', critical: '2d' } }],
    channels: { main: channel },
    server: { token: random.bytes(24).toString('hex') },
  };
}

/** A key is taken as it stands, whatever characters it holds. */
function escapePlaceholder(text: string): string {
  return text.replaceAll('${', '$${');
}

function formatConfiguration(config: object): string {
  return `${JSON.stringify(config, null, 2)}\n`;
}

function alreadyThere(file: string): UsageError {
  return new UsageError(`${file} exists; init never writes over a file`);
}

/** For its owner alone: it holds secrets. */
function writeNew(file: string, config: object): void {
  try {
    writeFileSync(file, formatConfiguration(config), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : null;
    if (code === 'EEXIST') throw alreadyThere(file);
    if (code === null) throw error;
    throw new CommandError(`${dirname(file)} cannot be written to: ${code}`);
  }
}

type TriedKey =
  | { readonly kind: 'read'; readonly currency: string; readonly text: string }
  | { readonly kind: 'unknown'; readonly reason: string };

/** Throws where the file that was just written is not valid, or the provider refuses the key. */
async function tryKey(context: CommandContext, input: CommandInput): Promise<TriedKey> {
  const { settings } = await loadConfiguration(context, input);
  const order = { settings, account: null, signal: context.signal };
  const [checked] = await context.rooms.checkAccounts(order);
  const reading = checked?.outcome === 'ok' ? checked.view.reading : null;
  if (checked?.outcome === 'auth_failed')
    throw new CommandError('the provider refused the key; nothing was written');
  if (reading === null || reading === undefined)
    return { kind: 'unknown', reason: cleanText(checked?.reason ?? 'no answer', 300) };
  const { currency } = reading;
  const text = (checked?.view.balances ?? [])
    .map(({ id, label }) => `${label} ${formatAmount(amountOf(reading, id), currency)}`)
    .join(', ');
  return { kind: 'read', currency: currency.trim(), text: cleanText(text, 200) };
}
