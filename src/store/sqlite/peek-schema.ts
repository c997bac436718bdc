import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** "lwtr": marks the file as lowwater's (PRAGMA application_id; the command `file` shows it). */
export const applicationId = 0x6c777472;

/** The offset of the version in the header of a database (https://sqlite.org/fileformat2.html, 1.3). */
const userVersionAt = 60;
const applicationIdAt = 68;
export const headerBytes = 100;

/** The schema of a database of lowwater, read without opening it; null if the file is not one, or cannot be read. */
export async function peekSchema(path: string): Promise<number | null> {
  // Without O_NONBLOCK, opening a FIFO would wait until somebody writes to it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null);
  if (file === null) return null;
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(headerBytes), 0, headerBytes, 0);
    if (bytesRead < headerBytes || buffer.readUInt32BE(applicationIdAt) !== applicationId) return null;
    return buffer.readUInt32BE(userVersionAt);
  } catch {
    return null;
  } finally {
    await file.close();
  }
}
