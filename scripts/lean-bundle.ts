import { isBuiltin } from 'node:module';
import type { Plugin } from 'rolldown';

/**
 * Puts less in the place of modules that load far more than the program uses, which cost a fifth of its memory and a third of its
 * start. What the sources import and no part here gives fails the build.
 */
export function loadLess(packages: string): Plugin {
  const undici = `${packages}/undici/lib`;
  const modules = new Map([
    // Its index loads mocks and caches as well.
    [
      'undici',
      `export * from 'undici:dispatchers'; export { fetch } from 'undici:fetch'; export { WebSocket } from 'undici:websocket';`,
    ],
    [
      'undici:dispatchers',
      `import Dispatcher from '${undici}/dispatcher/dispatcher.js';
      import api from '${undici}/api/index.js';
      export { default as Agent } from '${undici}/dispatcher/agent.js';
      export { default as buildConnector } from '${undici}/core/connect.js';
      export { default as Client } from '${undici}/dispatcher/client.js';
      export { default as EnvHttpProxyAgent } from '${undici}/dispatcher/env-http-proxy-agent.js';
      Object.assign(Dispatcher.prototype, api);`,
    ],
    ['undici:fetch', `import whole from '${undici}/web/fetch/index.js'; export const { fetch } = whole;`],
    [
      'undici:websocket',
      `import whole from '${undici}/web/websocket/websocket.js'; export const { WebSocket } = whole;`,
    ],
    // Packages load it and start no program; `query`, which starts lowwater itself, asks Node for it.
    ['node:child_process', 'module.exports = {};'],
    ['child_process', 'module.exports = {};'],
    // Where text is plain nobody asks how wide it is; to read the tables of Unicode takes 18 ms.
    ['string-width', `export default (text) => require('${packages}/string-width/index.js').default(text);`],
    // What an import copies of it would load workers and much else, which it holds back until somebody asks.
    ['node:util', `module.exports = Object.create(process.getBuiltinModule('node:util'));`],
    // Nor speaks it HTTP/2; who looks whether a request came by it finds that none did.
    ['node:http2', 'export class Http2ServerRequest {} export const constants = {};'],
  ]);
  return {
    name: 'load-less',
    resolveId: {
      filter: { id: /^[a-z]/ },
      handler: (id, importer) => (modules.has(id) || isPartOfNode(id, importer) ? `\0${id}` : null),
    },
    load: {
      filter: { id: [/^\0[a-z]/, zodSentences] },
      handler: (id) => ({
        code: zodSentences.test(id) ? 'export {};' : (modules.get(id.slice(1)) ?? partOfNode(id.slice(1))),
        moduleSideEffects: id === '\0undici:dispatchers',
      }),
    },
  };
}

/** Sentences of 50 languages about what is invalid: people read ours. */
const zodSentences = /\/zod\/v4\/locales\/index\.js$/;

/** What the bundler puts in itself makes the rest readable, so it comes before. */
function isPartOfNode(id: string, importer: string | undefined): boolean {
  return isBuiltin(id) && importer?.startsWith('\0rolldown/') !== true;
}

/**
 * A part of Node as it is. An `import` would read every export of it, also those behind which Node loads what hardly any program
 * needs: its own undici, cryptography of the web, text decoders.
 */
function partOfNode(id: string): string {
  return `module.exports = process.getBuiltinModule('${id}');`;
}

/** One letter beyond Latin makes V8 keep the whole file in two bytes a letter. */
export function writeAscii(): Plugin {
  return {
    name: 'write-ascii',
    generateBundle(_options, bundle) {
      for (const part of Object.values(bundle))
        if (part.type === 'chunk') part.code = escapeLetters(part.code);
    },
  };
}

/** Letter by letter of UTF-16, which texts, templates and regular expressions all understand. */
function escapeLetters(code: string): string {
  return code.replace(/\P{ASCII}/gv, (letter) =>
    letter
      .split('')
      .map((half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
