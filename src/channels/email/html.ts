/** HTML that is safe to put into HTML: made by `html` only, or by joining such pieces. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A template of HTML in which every interpolated text is escaped, for content and for quoted attributes. */
export function html(
  strings: TemplateStringsArray,
  ...values: readonly (Markup | string | number | readonly Markup[])[]
): Markup {
  const parts = strings.map((literal, index) => {
    const value = values[index];
    return index < values.length && value !== undefined ? literal + insert(value) : literal;
  });
  return new Markup(parts.join(''));
}

/** Escapes text for HTML and XML, in content and in quoted attributes alike. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

function insert(value: Markup | string | number | readonly Markup[]): string {
  if (value instanceof Markup) return value.text;
  if (typeof value === 'string') return escapeHtml(value);
  return typeof value === 'number' ? String(value) : value.map((part) => part.text).join('');
}
