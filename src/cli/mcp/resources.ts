import { readdir, readFile } from 'node:fs/promises';
import { CommandError } from '../command.ts';

const configuration = 'lowwater://configuration';
const prefix = 'lowwater://docs/';
const folder = new URL('../../../docs/', import.meta.url);

/** The configuration as understood, and the documents that came with the program: an image has none. */
export async function documentsOf() {
  const names = await readdir(folder).catch(() => []);
  return [
    {
      uri: configuration,
      name: 'configuration',
      title: 'The configuration as understood, secrets hidden',
      mimeType: 'application/json',
    },
    ...names
      .filter((name) => name.endsWith('.md'))
      .map((name) => ({ uri: prefix + name, name, mimeType: 'text/markdown' })),
  ];
}

export async function readDocument(uri: string, describeConfiguration: () => Promise<string>) {
  if (uri === configuration)
    return { uri, mimeType: 'application/json', text: await describeConfiguration() };
  const name = uri.startsWith(prefix) ? uri.slice(prefix.length) : '';
  const known = await documentsOf();
  if (!known.some((document) => document.uri === uri)) throw new CommandError(`there is no resource ${uri}`);
  return { uri, mimeType: 'text/markdown', text: await readFile(new URL(name, folder), 'utf8') };
}
