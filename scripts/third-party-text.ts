import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import holidays from '../src/spending/holidays.json' with { type: 'json' };
import type { BundledPackage } from './bundle.ts';

/** The licences of all packages whose code the bundle holds, each in full: most of them ask for that. */
export function writeThirdPartyText(packages: readonly BundledPackage[]): string {
  const head = 'lowwater holds code of the packages below. The licence of each stands under its name.\n';
  const data = `Its public holidays are made from the data of ${holidays.source} (${holidays.licence}).\n`;
  return [head, data, ...packages.map(writePackage)].join('\n');
}

function writePackage({ name, version, license, folder }: BundledPackage): string {
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const text =
    texts.length > 0
      ? texts.join('\n\n')
      : `Its package holds no text of its licence, ${license ?? 'which it does not name'}.`;
  return `${'='.repeat(80)}\n${name} ${version} (${license ?? 'see below'})\n${'='.repeat(80)}\n\n${text}\n`;
}
