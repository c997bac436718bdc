import type { ListeningReceiver, ReceivedMessage } from '../../channels/demo-receiver.ts';
import { channelKinds } from '../../channels/registry.ts';
import type { Output, Style } from '../../cli/terminal/output.ts';
import { startHttpService } from '../../net/http-service.ts';

/** So many kinds are shown where nobody says which: the first of the registry. */
const usualKinds = 2;

/** A receiver of each kind that prints what arrives, by the name of its channel. */
export async function openReceivers(
  types: readonly string[] | null,
  stdout: Output,
): Promise<ReadonlyMap<string, ListeningReceiver>> {
  const kinds =
    types === null
      ? channelKinds.slice(0, usualKinds)
      : channelKinds.filter(({ type }) => types.includes(type));
  const { style } = stdout;
  const paints = [style.blue, style.green, style.yellow, style.red];
  const open = kinds.map(async (kind, index) => {
    const paint = paints[index % paints.length] ?? style.blue;
    const receiver = await kind.openDemoReceiver();
    const listening = await receiver.listen(
      (message) => void stdout.write(printReceived(message, { paint, style })),
    );
    return [kind.type, listening] as const;
  });
  return new Map(await Promise.all(open));
}

/** A free port of this machine, the usual one if it can be had. */
export async function findFreePort(usual: number): Promise<number> {
  const probe = (port: number) => startHttpService({ port, host: '127.0.0.1' }, () => undefined);
  const { port, close } = await probe(usual).catch(() => probe(0));
  await close();
  return port;
}

const bar = '│';

/** A message as it arrived, in a frame of its channel's colour. */
function printReceived(
  { title, lines }: ReceivedMessage,
  it: { readonly paint: (text: string) => string; readonly style: Style },
): string {
  const { paint, style } = it;
  const body = lines.map((line) => `${paint(bar)} ${line}`.trimEnd());
  return `${paint(`╭─ ${style.bold(title)}`)}\n${body.join('\n')}\n${paint('╰─')}\n\n`;
}
