import type { ChannelKind } from '../../channels/kind.ts';
import { type CommandInput, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { readChoice } from '../read-options.ts';
import { type Ask, resolveNamed, written } from './asker.ts';

/** The channels named on the command line; else one, called main, for which the person may be asked. */
export async function askChannels(
  context: CommandContext,
  input: CommandInput,
  ask: Ask,
): Promise<Readonly<Record<string, object>>> {
  const named = input.options('channel').map((text) => /^([a-z0-9][a-z0-9-]*)=(.+)$/.exec(text) ?? [text]);
  const [first, ...others] = named.map(([text, name = 'main', address = text]) => [name, address] as const);
  const { channelKinds } = await import('../../channels/registry.ts');
  const types = channelKinds.filter((kind) => kind.keysAt ?? addressKey(kind)).map(({ type }) => type);
  const type = readChoice(input, 'channel-type', types);
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
  const of = type === null ? '' : ` of --channel-type ${type}`;
  const wrong = `--channel must be an https:// webhook or smtps:// address${of}, or env:NAME or file:/path with one`;
  const at = async (answer: string) => {
    const named = await resolveNamed(context, answer);
    const address = named.kind === 'text' ? named.text : '';
    const found = await channelAt(address, type);
    const problem = named.kind === 'failed' ? named.messages.join('; ') : wrong;
    return found === null ? ({ problem } as const) : ({ problem: null, address, ...found } as const);
  };
  const answer = await ask(
    'channel',
    'Where messages go (a webhook address, smtps://…, env:NAME or file:/path)',
    {
      check: async (text) => (await at(text)).problem,
      ...(typed === undefined ? {} : { typed }),
    },
  );
  const found = await at(answer);
  if (found.problem !== null) throw new UsageError(found.problem);
  const keys = Object.entries(found.keys).map(([key, value]) => [
    key,
    value === URL.parse(found.address)?.href || value === found.address ? written(answer) : value,
  ]);
  const { recipients } = found;
  const to = recipients === undefined ? [] : [[recipients.key, [await ask('to', recipients.question)]]];
  return Object.fromEntries([...keys, ...to]);
}

/** The file's entry for a channel with this address, of the given type if any; null if no kind has such addresses. */
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

/** The address key of a kind that was named: no kind recognises a company's own server by its host. */
function ownKeysAt(
  kind: ChannelKind,
  { href, protocol }: URL,
): ReturnType<NonNullable<ChannelKind['keysAt']>> {
  const key = addressKey(kind);
  return key === undefined || !/^https?:$/.test(protocol) ? null : { keys: { [key]: href }, isCertain: true };
}

function addressKey({ schema }: ChannelKind): string | undefined {
  return ['webhookUrl', 'url'].find((name) => name in schema.shape);
}
