import { existsSync, mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

/** Modules of Node that every command loads. They are precompiled, and V8 accepts that code only under the flags with which it started. */
const ofNode = ['assert', 'crypto', 'fs/promises', 'http', 'perf_hooks', 'tty', 'worker_threads'];

/**
 * Sets V8's flags. Call it before the rest is loaded, because the space for young objects never shrinks.
 * A process that runs for years must stay small. Node would let young objects take 100 MB before it collects
 * garbage, which pays off when much is created. The daemon creates little, and a replay must fit next to it.
 */
export function limitMemory(use: 'small' | 'short' | 'replay'): void {
  for (const name of ofNode) process.getBuiltinModule(name);
  // Nearly everything that a short command loads lives until its end, so it gets space at once: collecting garbage would find hardly any.
  if (use === 'short') setFlagsFromString('--semi-space-growth-factor=16 --no-incremental-marking');
  // Halves the memory of a replay of a million readings. With so few objects, several threads wait longer than one works, and what they compile
  // in parallel stays. 8 MB for young objects take a tenth less processor time than 1 MB: V8 lets the space grow once more is in use.
  if (use === 'replay') {
    setFlagsFromString('--no-parallel-scavenge --no-concurrent-recompilation --semi-space-growth-factor=8');
    Array.from({ length: 50_000 }, () => ({}));
  }
  // What a poll keeps of an account is old memory, and becomes garbage with the next poll: it is collected after growth by half, not
  // by a factor of four. A thousand accounts take 22 MiB less than with doubling, for a twentieth more processor time.
  if (use !== 'short')
    setFlagsFromString(`--semi-space-growth-factor=1 --heap-growing-percent=${use === 'small' ? 50 : 70}`);
  // undici parses HTTP in WebAssembly, which is fast enough as first compiled. Compiling it again takes 8 MB, which the process may never free.
  if (use === 'small') setFlagsFromString('--no-wasm-tier-up --no-wasm-dynamic-tiering');
  // When little happens, V8 collects garbage every 8 seconds while anything runs: half of the processor time of a daemon with ten accounts.
  // Every five minutes still frees the memory that pages took.
  if (use === 'small') setFlagsFromString('--gc-memory-reducer-start-delay-ms=300000');
}

/** Keeps V8's compiled code for the next command: a fifth of the time of a short one. Call it after the flags are set, on which the code depends. */
export function keepCompiledCode(env: NodeJS.ProcessEnv): void {
  const directory = codeDirectory(env);
  if (directory !== null && makeFolder(directory)) enableCompileCache(directory);
}

/** False if the folder cannot be made. Node itself would then retry for ever, as in /proc, and would make the folder open to others. */
function makeFolder(directory: string): boolean {
  if (existsSync(directory)) return true;
  const parent = dirname(directory);
  if (parent === directory || !makeFolder(parent)) return false;
  try {
    mkdirSync(directory, { mode: 0o700 });
    return true;
  } catch {
    // Another command may have made it first.
    return existsSync(directory);
  }
}

/**
 * The folder of compiled code. It is in a folder that only this user can write to: whoever writes there can make the program do anything.
 * Null if there is none. Node itself obeys `NODE_COMPILE_CACHE` and `NODE_DISABLE_COMPILE_CACHE`.
 */
export function codeDirectory(env: NodeJS.ProcessEnv): string | null {
  const { CACHE_DIRECTORY: ofService, XDG_CACHE_HOME: ofUser, HOME: home } = env;
  if (ofService) return ofService;
  if (ofUser) return join(ofUser, 'lowwater');
  return home ? join(home, '.cache', 'lowwater') : null;
}
