import type { WriteStream } from 'node:tty';
import type { Output } from '../cli/terminal/output.ts';
import { createStyle, decideColour } from '../cli/terminal/style.ts';

const usualColumns = 80;

/**
 * Standard output or standard error for commands. When it cannot be written any more, be it that the reader went away, as
 * `| head` does, or that the disk is full, what is written after that is dropped, and `lost` is called with the reason.
 */
export function openOutput(
  stream: WriteStream,
  env: Readonly<Record<string, string | undefined>>,
  lost: (error: NodeJS.ErrnoException) => void,
): Output {
  let open = true;
  const isTerminal = stream.isTTY === true;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    open = false;
    lost(error);
  });
  return {
    isTerminal,
    style: createStyle(decideColour(env, stream)),
    get columns() {
      // A terminal that nobody gave a size says 0.
      return stream.columns || usualColumns;
    },
    async write(text) {
      if (!open || stream.write(text)) return;
      await new Promise<void>((resolve) => {
        const settle = () => {
          for (const event of ['drain', 'close', 'error']) stream.off(event, settle);
          resolve();
        };
        for (const event of ['drain', 'close', 'error']) stream.on(event, settle);
      });
    },
  };
}
