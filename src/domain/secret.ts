/** A value that is never printed: strings, JSON, `console.log` and errors get a placeholder. Only `reveal()` gives it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[secret]';
  }
}

/** The text behind a value that may be a secret; empty when there is none. */
export function textBehind(value: Secret | string | undefined): string {
  return value instanceof Secret ? value.reveal() : (value ?? '');
}

const minLength = 16;

export function isShortToken(token: Secret): boolean {
  return token.reveal().length < minLength;
}

/** The text follows the name of the key. */
export const shortTokenAdvice = `is shorter than ${minLength} characters and could be guessed; make one with: openssl rand -hex 24`;
