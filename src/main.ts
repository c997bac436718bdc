#!/usr/bin/env node
// Every version of Node must be able to read this file: plain syntax, and nothing imported before the version is known to
// be new enough (the database driver ends in a segmentation fault on older versions).
const needed = [22, 19] as const;
const parts = process.versions.node.split('.');
const major = Number(parts[0]);
const minor = Number(parts[1]);

if (major > needed[0] || (major === needed[0] && minor >= needed[1])) {
  // NO_COLOR wins: Node would let FORCE_COLOR override it, and would write a warning about that on standard error.
  if (process.env.NO_COLOR) delete process.env.FORCE_COLOR;
  // Signals come first: loading the rest takes a while, and until somebody listens, a signal ends the process at once.
  const { listenForSignals } = await import('./wiring/signals.ts');
  const { commandOf } = await import('./cli/command-of.ts');
  const words = process.argv.slice(2);
  const ending = listenForSignals(words);
  const command = commandOf(words);
  const { keepCompiledCode, limitMemory } = await import('./wiring/before-loading.ts');
  if (command === 'replay') limitMemory('replay');
  else if (command === 'run') limitMemory('small');
  else if (!(words.includes('--help') || /^(?:-|help|comp|$)/.test(command ?? ''))) limitMemory('short');
  // Not for the daemon: it starts once in months, and would keep 9 MB of cached code in memory to save a tenth of a second.
  if (command !== 'run') keepCompiledCode(process.env);
  const { watchedVariable, watchQuery } = await import('./wiring/watched-query.ts');
  if (words[0] === 'complete-values') {
    const { completeValues } = await import('./wiring/complete-values.ts');
    await completeValues(words, process.env);
  } else if (command === 'query' && process.env[watchedVariable] === undefined) watchQuery();
  else {
    const { startProcess } = await import('./wiring/process.ts');
    await startProcess(ending);
  }
} else {
  process.stderr.write(
    `lowwater needs Node.js ${needed[0]}.${needed[1]} or newer, this is ${process.versions.node}.\n`,
  );
  process.exitCode = 1;
}

export {};
