/** A failure that the operator can fix; the message is a sentence for that person. */
export class OperatorError extends Error {}

/**
 * Why the database could not be used; `kind` decides what a person is told. `unknown`: what was to be stored may be stored all the
 * same, and only storing it again, as it is, finds that out. `fenced`: another daemon owns the accounts now, and nothing was stored.
 * `unfit`: what is configured and what is there do not go together, and waiting does not change that.
 */
export class StorageError extends OperatorError {
  readonly kind: 'full' | 'read-only' | 'corrupt' | 'busy' | 'unknown' | 'fenced' | 'unfit' | 'other';

  constructor(kind: StorageError['kind'], message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'StorageError';
    this.kind = kind;
  }
}
