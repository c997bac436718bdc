import type { WriteStream } from 'node:tty';
import type { Output } from '../cli/terminal/output.ts';
import { createStyle, decideColour } from '../cli/terminal/style.ts';

const usualColumns = 80;

/**
 * Standard output or standard error for commands. A reader that goes away, as `| head` does, is no error:
 * what is written after that is dropped, and `gone` is called once.
 */
export function openOutput(
  stream: WriteStream,
  env: Readonly<Record<string, string | undefined>>,
  gone: () => void,
): Output {
  let open = true;
  const isTerminal = stream.isTTY === true;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    open = false;
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
    gone();
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
