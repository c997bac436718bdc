import { registerHooks } from 'node:module';

const isSet = Symbol.for('lowwater: sources are resolved');

/**
 * Before the first test file of a worker: a source that names another by its path needs nobody to find it. Vitest would tell its main
 * process of every import, which reads that only where it watches for changes.
 */
if (process.env.VITEST_MODE !== 'WATCH' && !Object.hasOwn(globalThis, isSet)) {
  Object.defineProperty(globalThis, isSet, { value: true });
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const isSource = /^\.\.?\/.*\.ts$/.test(specifier) && context.parentURL?.startsWith('file:');
      if (!isSource) return nextResolve(specifier, context);
      return { url: new URL(specifier, context.parentURL).href, shortCircuit: true };
    },
  });
}
