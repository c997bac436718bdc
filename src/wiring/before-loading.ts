import { existsSync, mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

/** Modules of Node's own that every command loads. They come compiled, which V8 takes under the flags alone that it began with. */
const ofNode = ['assert', 'crypto', 'fs/promises', 'http', 'perf_hooks', 'tty', 'worker_threads'];

/**
 * V8's flags, to be set before the rest is loaded: what the young objects' space has grown to it keeps.
 * The memory of a process that runs for years is kept small. Node would let young objects take 100 MB before it looks for
 * garbage, which pays where much is made; the daemon makes little, and a replay must fit next to it.
 */
export function limitMemory(use: 'small' | 'short' | 'replay'): void {
  for (const name of ofNode) process.getBuiltinModule(name);
  // Nearly all that a short command loads lives until its end: it gets space at once. To look for garbage, on other threads too, finds hardly any.
  if (use === 'short') setFlagsFromString('--semi-space-growth-factor=16 --no-incremental-marking');
  // A replay of a million readings takes half of the memory. Several threads would wait longer for so few objects than one works, and what they
  // compile at once stays. Young objects get 8 MB, for a tenth less processor time than with 1: V8 lets them grow once more than it has are in use.
  if (use === 'replay') {
    setFlagsFromString('--no-parallel-scavenge --no-concurrent-recompilation --semi-space-growth-factor=8');
    Array.from({ length: 50_000 }, () => ({}));
  }
  // The memory that a poll leaves of an account is old, and garbage with the next one: look for it when there is half as much again, not when there
  // is four times as much. A thousand accounts take 22 MiB less than where it may double, for a twentieth more processor time.
  if (use !== 'short')
    setFlagsFromString(`--semi-space-growth-factor=1 --heap-growing-percent=${use === 'small' ? 50 : 70}`);
  // undici parses HTTP in WebAssembly, which is quick enough as first compiled: compiled once more it takes 8 MB, which the process may keep.
  if (use === 'small') setFlagsFromString('--no-wasm-tier-up --no-wasm-dynamic-tiering');
  // Where little happens, V8 looks for garbage every 8 seconds, for as long as anything runs: half of what a daemon of ten accounts costs.
  // Every five minutes still gives back what pages took.
  if (use === 'small') setFlagsFromString('--gc-memory-reducer-start-delay-ms=300000');
}

/** Keeps what V8 compiles for the next command: a fifth of what a short one takes. To be called once V8's flags, a part of it, are set and before the rest is loaded. */
export function keepCompiledCode(env: NodeJS.ProcessEnv): void {
  const directory = codeDirectory(env);
  if (directory !== null && makeFolder(directory)) enableCompileCache(directory);
}

/** False where it cannot be made. Node itself would try for ever under a folder in which nobody can make any, such as /proc, and let others in as the umask does. */
function makeFolder(directory: string): boolean {
  if (existsSync(directory)) return true;
  const parent = dirname(directory);
  if (parent === directory || !makeFolder(parent)) return false;
  try {
    mkdirSync(directory, { mode: 0o700 });
    return true;
  } catch {
    // Another command may have been quicker.
    return existsSync(directory);
  }
}

/**
 * The folder of compiled code: in a folder that is this user's alone, as whoever may write there may have the program do anything. Null
 * where there is none. `NODE_COMPILE_CACHE` and `NODE_DISABLE_COMPILE_CACHE` are obeyed by Node itself.
 */
export function codeDirectory(env: NodeJS.ProcessEnv): string | null {
  const { CACHE_DIRECTORY: ofService, XDG_CACHE_HOME: ofUser, HOME: home } = env;
  if (ofService) return ofService;
  if (ofUser) return join(ofUser, 'lowwater');
  return home ? join(home, '.cache', 'lowwater') : null;
}
