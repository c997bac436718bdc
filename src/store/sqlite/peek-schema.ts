import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** "lwtr": marks the file as lowwater's (PRAGMA application_id, `file` shows it). */
export const applicationId = 0x6c777472;

/** The place of the version in the header of a database (https://sqlite.org/fileformat2.html, 1.3). */
const userVersionAt = 60;
const applicationIdAt = 68;
export const headerBytes = 100;

/** The schema of a database of lowwater, read without opening it; null where the file is none or cannot be read. */
export async function peekSchema(path: string): Promise<number | null> {
  // Opening a FIFO would otherwise wait for somebody who writes to it.
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
