import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReceivedMessage } from '../src/channels/demo-receiver.ts';
import type { ChannelKind } from '../src/channels/kind.ts';
import { exampleKeys } from '../src/channels/post-kind.ts';
import type { Preset } from '../src/channels/presets/preset.ts';
import {
  buildChannel,
  channelKinds,
  channelSchema,
  createChannel,
  presets,
} from '../src/channels/registry.ts';
import { createForeignTexts } from '../src/domain/foreign-text.ts';
import { formatDuration } from '../src/domain/time.ts';
import { systemClock } from '../src/system/clock.ts';
import { buildMessage } from '../test/support/messages.ts';

/** Where `docs/channels.md` is. */
export const channelReferenceFile = join(import.meta.dirname, '../docs/channels.md');

const kindsFolder = join(import.meta.dirname, '../src/channels');

/** The page of all channels: what each kind says of itself, a message as its receiver gets it, and its table of answers. */
export async function writeChannelReference(): Promise<string> {
  const sections: string[] = [];
  for (const kind of channelKinds) sections.push(await writeSection(kind));
  return `${introduction}\n${sections.join('\n')}`;
}

const introduction = `# Channels

This page lists where messages can go. It is made from the description of each kind of channel (\`npm run reference\`), and a test keeps it current.
[configuration.md](configuration.md) lists every key, [messages.md](messages.md) shows messages.

- \`lowwater test-channel NAME\` sends a test, and prints the request and the receiver's answer.
- \`lowwater demo --channels teams,dingtalk\` shows any of them without an account.
- A message counts as delivered only when the receiver says so in its own way. *refused* is tried again for a day, from a second to five minutes apart;
  *unknown* too, and may then come twice; *dead* is reported on every other channel as \`channel-failed\`.
- Every message that may ask for something has links: to top up (\`topUpUrl\` of the account or the provider), to acknowledge, to the \`runbookUrl\`, to
  the page. The \`note\` of an account is in all its messages.
- \`mention\` of a channel names people by severity; \`mention\` of a route says when: \`true\` in all messages except reminders, \`"reminders"\` in those too,
  \`false\` never.
`;

async function writeSection(kind: ChannelKind): Promise<string> {
  const preset = presets.find(({ type }) => type === kind.type);
  const guide =
    preset === undefined
      ? readFileSync(join(kindsFolder, kind.type, 'guide.md'), 'utf8').trimEnd()
      : writePresetGuide(preset);
  const received = await receiveExample(kind);
  const lines = received.flatMap(({ lines: each }) => each);
  const rows = kind.answers.map(
    ({ answer, means, note = '', source }) => `| ${answer} | ${means} | ${note} | ${source} |`,
  );
  return `${guide}

What arrives, as lines:

\`\`\`text
${lines.join('\n')}
\`\`\`

| answer | means | | source |
| --- | --- | --- | --- |
${rows.join('\n')}
`;
}

/** What a preset says of itself, with all that has to be written. */
function writePresetGuide(preset: Preset): string {
  const { limits, minGapMs, source, certainty } = preset;
  const keys = Object.entries(preset.keys).map(([key, { description, optional, default: usual }]) => {
    const when = usual === undefined ? (optional ? ' May be left out.' : '') : ` Without it \`${usual}\`.`;
    return `- \`${key}\`: ${description}${when}`;
  });
  const written = JSON.stringify(writtenKeys(preset), null, 2);
  return `## ${preset.name}

${preset.guide.join('\n')}

\`\`\`json
"ops": ${written}
\`\`\`

${keys.join('\n')}

At most ${limits.text} ${limits.unit} and one message every ${formatDuration(minGapMs)}. Source: ${source}
(${certainty === 'documented' ? 'the receiver’s own pages' : 'not the receiver’s own pages'}; not yet tried against the real service).`;
}

/** What cannot be left out, with secrets where they belong. */
export function writtenKeys(preset: Preset): Readonly<Record<string, unknown>> {
  const keys = Object.fromEntries(
    Object.entries(exampleKeys(preset)).flatMap(([key, example]) => {
      const { kind, default: usual } = preset.keys[key] ?? { kind: 'text' };
      if (usual !== undefined) return [];
      const isSecret = kind === 'secret' || kind === 'credential';
      return [[key, isSecret ? `\${env:${constantCase(`${preset.type}-${key}`)}}` : example]];
    }),
  );
  return { type: preset.type, ...keys };
}

function constantCase(name: string): string {
  return name
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toUpperCase();
}

/** An alert as it arrives at the demo's receiver of the kind, sent over a real connection. */
async function receiveExample(kind: ChannelKind): Promise<readonly ReceivedMessage[]> {
  const received: ReceivedMessage[] = [];
  const receiver = await kind.openDemoReceiver((message) => void received.push(message));
  const settings = buildChannel('ops', channelSchema.parse(receiver.channel));
  const channel = createChannel(settings, { clock: systemClock, texts: createForeignTexts([]) });
  const delivery = await channel.send(buildMessage(), new AbortController().signal);
  await Promise.all([channel.close(), receiver.close()]);
  if (delivery.kind !== 'delivered') throw new Error(`${kind.type}: ${delivery.reason}`);
  return received;
}

if (import.meta.main) writeFileSync(channelReferenceFile, await writeChannelReference());
