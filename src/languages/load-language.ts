import {
  type Catalogue,
  keepLanguage,
  type LanguageId,
  languageIds,
  languageNamed,
  makeLanguage,
} from '../wording/language.ts';
import type { Language } from '../wording/phrase.ts';

const catalogues: Readonly<
  Record<Exclude<LanguageId, 'en'>, () => Promise<{ readonly default: Catalogue }>>
> = {
  'zh-CN': () => import('../../languages/zh-CN.json', { with: { type: 'json' } }),
  es: () => import('../../languages/es.json', { with: { type: 'json' } }),
};

/** Loads a language, and FormatJS with it; English needs neither. An unknown name is English. */
export async function loadLanguage(id: string): Promise<Language> {
  const known = languageIds.find((each) => each === id) ?? 'en';
  if (known === 'en' || languageNamed(known).id === known) return languageNamed(known);
  const [{ IntlMessageFormat }, catalogue] = await Promise.all([
    import('intl-messageformat'),
    catalogues[known](),
  ]);
  const parse = (sentence: string) => new IntlMessageFormat(sentence, known, {}, { ignoreTag: true });
  const language = makeLanguage(known, catalogue.default, parse);
  keepLanguage(language);
  return language;
}

/** Loads all languages in which a configuration sends messages. */
export async function loadLanguagesOf(settings: {
  readonly language: string;
  readonly channels: readonly { readonly language?: string | undefined }[];
  readonly reports: readonly { readonly language?: string | undefined }[];
}): Promise<void> {
  const named = [settings, ...settings.channels, ...settings.reports].map(({ language = 'en' }) => language);
  await Promise.all([...new Set(named)].map(loadLanguage));
}
