import { parseDuration } from '../../domain/time.ts';
import { type Command, CommandError, exitCodes, UsageError } from '../command.ts';
import { findDaemon, namedServer, requireDaemon } from '../daemon/find-daemon.ts';
import { EndedEarly, loadConfiguration, loadForOperator } from '../load-configuration.ts';
import { suggest } from '../read-options.ts';

export const runCommand: Command = {
  name: 'run',
  summary: 'the daemon, in the foreground',
  details: `Polls, stores, judges and tells until SIGTERM or SIGINT; then it ends within 10 s with exit code 0. A second signal ends it at
once. SIGHUP, or a change of the file, reads the configuration again. Logs JSON lines on standard output, warnings about the configuration
among them.`,
  examples: ['lowwater run --config /etc/lowwater/config.json'],
  run: async (context, input) => {
    try {
      await context.process.runDaemon(await loadConfiguration(context, input), context.signal);
    } catch (error) {
      if (!(error instanceof EndedEarly)) throw error;
    }
    return exitCodes.ok;
  },
};

export const demoCommand: Command = {
  name: 'demo',
  summary: 'the whole product at work, embedded and sped up',
  details: `Provider simulator, daemon, page, receivers that print each message (Slack and mail, or those of --channels). No account, no network, no file needed:
balances fall, alerts arrive and resolve.`,
  options: {
    channels: {
      value: 'KINDS',
      summary: 'kinds of channels to show, with commas between, such as teams,dingtalk',
    },
    language: { value: 'LANGUAGE', summary: 'of messages and page: en, zh-CN or es' },
    for: { value: 'DURATION', summary: 'ends by itself after this time, such as 20s' },
  },
  examples: [
    'lowwater demo',
    'lowwater demo --for 20s',
    'lowwater demo --channels slack,email',
    'lowwater demo --language zh-CN --channels dingtalk',
  ],
  usesConfiguration: false,
  run: async (context, input) => {
    const limit = readLimit(input.option('for'));
    const ending = new AbortController();
    const cancel = limit === null ? () => undefined : context.clock.setTimer(limit, () => ending.abort());
    const channels = await readChannels(input.option('channels'));
    const signal = AbortSignal.any([context.signal, ending.signal]);
    const language = await readLanguage(input.option('language'));
    await context.process.runDemo({ channels, language, stdout: context.stdout, signal });
    cancel();
    return exitCodes.ok;
  },
};

async function readChannels(text: string | null): Promise<readonly string[] | null> {
  if (text === null) return null;
  const { channelKinds } = await import('../../channels/registry.ts');
  const known = channelKinds.map(({ type }) => type);
  const types = text.split(',').map((type) => type.trim());
  const unknown = types.find((type) => !known.includes(type));
  if (unknown !== undefined)
    throw new UsageError(`--channels: there is no channel "${unknown}"`, suggest(unknown, known));
  return types;
}

async function readLanguage(text: string | null): Promise<string> {
  const { languageIds } = await import('../../wording/language.ts');
  const known = languageIds.find((id) => id === (text ?? 'en'));
  if (known === undefined)
    throw new UsageError(`--language: there is no language "${text}"`, suggest(text ?? '', languageIds));
  return known;
}

function readLimit(text: string | null): number | null {
  if (text === null) return null;
  const ms = parseDuration(text);
  if (ms === null || ms === 0)
    throw new UsageError(`--for takes a duration such as 20s or 2m, not "${text}"`);
  return ms;
}

export const healthCommand: Command = {
  name: 'health',
  summary: 'ask the running daemon whether it is alive',
  details: `Asks /livez of the HTTP server, as the container's health check does. Exits with 0 when the daemon of this configuration answers
and with 1 when it does not. Without a server in the configuration there is nothing to ask: exit 0.`,
  asksDaemon: true,
  run: async (context, input) => {
    const server = namedServer(context, input);
    if (server !== null) await requireDaemon(server);
    else {
      const configuration = await loadForOperator(context, input);
      if (configuration.settings.server === null) {
        await context.stdout.write('The configuration names no HTTP server; nothing to ask.\n');
        return exitCodes.ok;
      }
      if ((await findDaemon(context, configuration)) === null) throw new CommandError('no daemon answers');
    }
    await context.stdout.write('alive\n');
    return exitCodes.ok;
  },
};
