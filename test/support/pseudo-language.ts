import { IntlMessageFormat } from 'intl-messageformat';
import { readCatalogue } from '../../scripts/write-languages.ts';
import { type Catalogue, keepLanguage, languageNamed, makeLanguage } from '../../src/wording/language.ts';

/** Every sentence of English marked and 40 % longer, with the plural forms of Polish. */
function catalogue(): Catalogue {
  const long = (text: string): string => {
    const plain = text.replaceAll(/\{\w+, plural, .* other \{(.*?)\}\}|\{\w+\}/g, '$1');
    // As words of a long language, between which a line may break.
    return `⟦${text}${' ·······'.repeat(Math.ceil((plain.length * 0.4) / 8))}⟧`;
  };
  return Object.fromEntries(
    Object.entries(readCatalogue('en')).map(([name, text]) => [
      name,
      long(
        text.replace(
          /(\{\w+, plural, )one (\{[^{}]*\}) other (\{(?:[^{}]|\{\w+\})*\})\}/g,
          '$1one $2 few $3 many $3 other $3}',
        ),
      ),
    ]),
  );
}

/** A language that nobody knows, under a name; while `use` lasts, where the name is that of another. */
export async function pseudoLanguage(id: string, use?: () => Promise<void>): Promise<void> {
  const before = languageNamed(id);
  keepLanguage(
    makeLanguage(id, catalogue(), (text) => new IntlMessageFormat(text, 'pl', {}, { ignoreTag: true })),
  );
  if (use === undefined) return;
  try {
    await use();
  } finally {
    keepLanguage(before);
  }
}
