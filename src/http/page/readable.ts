import { StorageError } from '../../domain/operator-error.ts';
import { type Html, html } from '../../wording/html.ts';

/**
 * A part of a page that comes from the database, or a sentence in its place while that cannot be read:
 * balances and alerts are known from memory, and are what people look for just then.
 */
export async function ifReadable(render: () => Promise<Html>): Promise<Html> {
  try {
    return await render();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    return html`<p class="empty">The database cannot be read just now.</p>`;
  }
}
