import { constants, fstatSync, openSync, writeSync } from 'node:fs';

/** Takes finished lines. `write` returns false if a line was refused; `lost` is called if that shows only later. */
export interface LogDestination {
  write(line: string, lost: () => void): unknown;
}

/** The most bytes that may wait for a slow reader of a pipe or socket: enough for a burst, not for the log of a day. */
const maxQueueBytes = 64 * 1024;

/** Writes lines at once. A full disk and a stopped or missing reader neither throw nor block: the line is refused. */
export function openLogDestination(fileDescriptor: 1 | 2): LogDestination {
  const kind = fstatSync(fileDescriptor);
  if (kind.isFIFO() || kind.isSocket())
    return queueTo(fileDescriptor === 1 ? process.stdout : process.stderr);
  return writeTo(kind.isCharacterDevice() ? reopen(fileDescriptor) : fileDescriptor);
}

/** Node writes to pipes and sockets without waiting, and queues the rest. */
function queueTo(stream: NodeJS.WriteStream): LogDestination {
  // The reader is gone: every further line is refused.
  stream.on('error', () => undefined);
  return {
    write(line, lost) {
      if (stream.destroyed || stream.writableLength > maxQueueBytes) return false;
      stream.write(line, (error) => {
        if (error) lost();
      });
      return true;
    },
  };
}

function writeTo(fileDescriptor: number): LogDestination {
  /** The rest of a line that was only partly written. It goes before all others. */
  let rest: Buffer = Buffer.alloc(0);
  return {
    write(line) {
      try {
        while (rest.length > 0) rest = rest.subarray(writeSync(fileDescriptor, rest));
        const bytes = Buffer.from(line);
        rest = bytes.subarray(writeSync(fileDescriptor, bytes));
        return true;
      } catch {
        return false;
      }
    },
  };
}

/** A stopped terminal (Ctrl-S) would block the process. Reopened without blocking, it refuses instead. */
function reopen(fileDescriptor: number): number {
  try {
    return openSync(
      `/proc/self/fd/${fileDescriptor}`,
      constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY,
    );
  } catch {
    return fileDescriptor;
  }
}
