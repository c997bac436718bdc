import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReceivedMessage } from '../../channels/demo-receiver.ts';
import { channelKinds } from '../../channels/registry.ts';
import type { DemoOrder } from '../../cli/context.ts';
import { addressOf, askDaemon } from '../../cli/daemon/daemon-connection.ts';
import { explainWriting } from '../../cli/init/new-file.ts';
import { readConfiguration } from '../../cli/load-configuration.ts';
import { layoutWidth, type Output } from '../../cli/terminal/output.ts';
import { wrapToWidth } from '../../cli/terminal/text.ts';
import { formatProblem } from '../../config/config-problem.ts';
import { inTurns } from '../../daemon/slices.ts';
import type { ServerSettings } from '../../domain/settings.ts';
import { startHttpService } from '../../net/http-service.ts';
import { presetKinds } from '../../providers/presets/preset-kinds.ts';
import { scenarioSchema } from '../../simulator/scenario.ts';
import { startSimulator } from '../../simulator/server.ts';
import { startDemoApi } from '../../simulator/simulated-api.ts';
import { systemClock } from '../../system/clock.ts';
import { systemRandom } from '../../system/random.ts';
import type { ProcessLog } from '../process-log.ts';
import { serve } from '../serve.ts';
import { acknowledgeAt, narration, storyConfiguration, storyMs, storyScenario } from './story.ts';

const usualPort = 8080;

/** Uses real sockets on loopback and a real database: the simulated provider plays a story, and receivers print it. */
export async function runDemo(order: DemoOrder, version: string, log: ProcessLog): Promise<void> {
  const { stdout, signal } = order;
  const begun = join(tmpdir(), 'lowwater-demo-');
  const folder = explainWriting(begun, () => mkdtempSync(begun));
  const receivers = await openReceivers(order.channels, stdout);
  const port = await findFreePort(usualPort);
  const provider = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    scenario: scenarioSchema.parse(storyScenario),
    clock: systemClock,
    random: systemRandom,
  });
  const other = await startOtherProvider();
  try {
    const file = join(folder, 'config.json');
    const channels = Object.fromEntries([...receivers].map(([name, { channel }]) => [name, channel]));
    const { language } = order;
    const everyone = order.channels !== null;
    const parts = { language, provider: provider.url, other, channels, port, everyone };
    explainWriting(file, () => writeFileSync(file, JSON.stringify(storyConfiguration(parts), null, 2)));
    const { loaded, sources } = await readConfiguration(file, log.hide);
    if (loaded.kind === 'invalid')
      throw new Error(
        `the demo's configuration is invalid: ${loaded.problems.map(formatProblem).join('; ')}`,
      );
    const acknowledged = async (): Promise<void> => {
      const pressed = [...receivers.values()].filter((receiver) => receiver.press?.() === true);
      if (pressed.length === 0) await acknowledge(loaded.settings.server);
    };
    const started = (url: string | null) => tellStory(order, url, acknowledged, other.refill);
    const warnings = await inTurns(loaded.warnings);
    await serve({ ...loaded, warnings, file, sources, log, version, signal, started });
  } finally {
    await Promise.all([
      provider.close(),
      other.close(),
      ...[...receivers.values()].map((each) => each.close()),
    ]);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startOtherProvider() {
  const kind = presetKinds.find(({ source }) => source.certainty === 'documented');
  const place = { host: '127.0.0.1', port: 0, spentPerHour: 1_800_000_000, clock: systemClock };
  const started = kind && (await startDemoApi(kind, place));
  if (!started) throw new Error('no preset can be simulated');
  const { api, account } = started;
  const { credentials, currency } = account;
  return {
    entry: { type: kind.type, baseUrl: api.url },
    account: { name: kind.summary, credentials, currency },
    refill: () => api.setAccounts([account]),
    close: api.close,
  };
}

/** Tells what happens while it happens. `acknowledged`: the person on call acts. */
function tellStory(
  { stdout, signal }: DemoOrder,
  url: string | null,
  acknowledged: () => Promise<void>,
  eachTurn: () => void,
): void {
  const cancels = new Set<() => void>();
  const say = (text: string): void => void stdout.write(`${stdout.style.bold(`▶ ${text}`)}\n\n`);
  const after = (ms: number, act: () => void): void => {
    if (!signal.aborted) cancels.add(systemClock.setTimer(ms, act));
  };
  const turn = (): void => {
    eachTurn();
    for (const { at, text } of narration) after(at, () => say(text));
    after(acknowledgeAt, () => void acknowledged());
    after(storyMs, turn);
  };
  signal.addEventListener('abort', () => {
    for (const cancel of cancels) cancel();
  });
  say(
    `lowwater polls four simulated accounts at two providers every second. The page: ${url ?? 'none'}  (Ctrl-C ends)`,
  );
  turn();
}

/** Acknowledges as a person would: over the API, with a comment. */
async function acknowledge(server: ServerSettings | null): Promise<void> {
  const url = addressOf(server);
  if (server === null || url === null) return;
  const body = { by: 'on-call', comment: 'finance is topping up' };
  const path = '/api/v1/alerts/otp/sms-low/ack';
  await askDaemon({ url, token: server.token }, { method: 'POST', path, body });
}

/** The number of channel kinds that are shown if none are named: the first ones of the registry. */
const usualKinds = 2;

/** Opens a receiver of each kind, by the name of its channel. It prints what arrives. */
async function openReceivers(types: readonly string[] | null, stdout: Output) {
  const kinds =
    types === null
      ? channelKinds.slice(0, usualKinds)
      : channelKinds.filter(({ type }) => types.includes(type));
  const { style } = stdout;
  const paints = [style.blue, style.green, style.yellow, style.red];
  const open = kinds.map(async (kind, index) => {
    const paint = paints[index % paints.length] ?? style.blue;
    const print = (message: ReceivedMessage) => void stdout.write(printReceived(message, paint, stdout));
    const opened = types === null ? undefined : kind.openDemoChat?.(print);
    return [kind.type, await (opened ?? kind.openDemoReceiver(print))] as const;
  });
  return new Map(await Promise.all(open));
}

/** A free port of this machine; the usual one if it is free. */
async function findFreePort(usual: number): Promise<number> {
  const probe = (port: number) => startHttpService({ port, host: '127.0.0.1' }, () => undefined);
  const { port, close } = await probe(usual).catch(() => probe(0));
  await close();
  return port;
}

function printReceived(
  { title, lines }: ReceivedMessage,
  paint: (text: string) => string,
  stdout: Output,
): string {
  const width = layoutWidth(stdout);
  const fitting = lines.flatMap((line) => wrapToWidth(line, width && Math.max(1, width - 2)));
  const body = fitting.map((line) => `${paint('│')} ${line}`.trimEnd());
  return `${paint(`╭─ ${stdout.style.bold(title)}`)}\n${body.join('\n')}\n${paint('╰─')}\n\n`;
}
