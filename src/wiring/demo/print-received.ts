import type { ReceivedMessage } from '../../channels/demo-receiver.ts';
import type { Style } from '../../cli/terminal/style.ts';

const bar = '│';

/** A message as it arrived, in a frame of its channel's colour. */
export function printReceived(
  { title, lines }: ReceivedMessage,
  it: { readonly paint: (text: string) => string; readonly style: Style },
): string {
  const { paint, style } = it;
  const body = lines.map((line) => `${paint(bar)} ${line}`.trimEnd());
  return `${paint(`╭─ ${style.bold(title)}`)}\n${body.join('\n')}\n${paint('╰─')}\n\n`;
}
