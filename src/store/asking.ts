/** A value of a parameter; PostgreSQL takes arrays of them as well. */
export type Item = string | number | null | Uint8Array;
export type Value = Item | readonly Item[];
export type Row = readonly Item[];

/** `$1`, `$2` … stand for its values. `isPage`: the last one is how many rows it gives at most, and may be less than asked. */
export interface Statement {
  readonly text: string;
  readonly values: readonly Value[];
  readonly isPage: boolean;
}

/** A program that asks one question after the other, of SQLite, which answers at once, or of PostgreSQL, which is waited for. */
export type Asking<Result, Question = Statement> = Generator<Question, Result, unknown>;

export function* ask<Row>(
  text: string,
  values: readonly Value[] = [],
  isPage = false,
): Asking<readonly Row[]> {
  return (yield { text, values, isPage }) as readonly Row[];
}

export function askAtOnce<Result, Question>(
  asking: Asking<Result, Question>,
  answer: (question: Question) => unknown,
): Result {
  let step = asking.next();
  while (step.done !== true) step = asking.next(answer(step.value));
  return step.value;
}

/** The program hears of an answer that is refused, and may go on. */
export async function askInTurn<Result, Question>(
  asking: Asking<Result, Question>,
  answer: (question: Question) => Promise<unknown>,
): Promise<Result> {
  let step = asking.next();
  while (step.done !== true) {
    const next = await answer(step.value).then(
      (given) => () => asking.next(given),
      (error: unknown) => () => asking.throw(error),
    );
    step = next();
  }
  return step.value;
}
