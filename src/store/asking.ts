/** A value of a parameter; PostgreSQL takes arrays of them as well. */
export type Item = string | number | null | Uint8Array;
export type Value = Item | readonly Item[];
export type Row = readonly Item[];

/** A text in which `$1`, `$2` … stand for the values. `isPage`: the last value is the maximum number of rows, and may be lowered. */
export interface Statement {
  readonly text: string;
  readonly values: readonly Value[];
  readonly isPage: boolean;
}

/** A program that asks one question after another: SQLite answers at once, and PostgreSQL has to be awaited. */
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

/** A refused answer is thrown into the program, which may continue. */
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
