import { Worker } from 'node:worker_threads';

/** Ends the process after a limit: exit code 143, and a line on standard error, read or not. It has its own thread, for work that blocks this one. */
export function endProcessAfter(limitMs: number, line: string): () => void {
  const watch = new Worker(watching, { eval: true, workerData: { limitMs, line: `lowwater: ${line}\n` } });
  watch.unref();
  return () => void watch.terminate();
}

const watching = `
const { workerData } = require('node:worker_threads');
setTimeout(() => {
  try {
    require('node:fs').writeSync(2, workerData.line);
  } finally {
    process.kill(process.pid, 'SIGTERM');
  }
}, workerData.limitMs);
`;
