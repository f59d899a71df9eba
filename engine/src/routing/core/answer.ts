/** What a strategy in an app's code answered: an input of the decision, kept in its record. */

/** One answer. */
export interface Answer {
  /** Best first; undefined: there is none that counts, and the strategy beside it chooses. */
  readonly ids: readonly string[] | undefined;
  /** Who answered, or why no answer counts. */
  readonly note: string;
}

/** Answers about one pool, by answerKey. */
export type Answers = ReadonlyMap<string, Answer>;

/** Nobody was asked. */
export const NO_ANSWERS: Answers = new Map();

/** Names a strategy in code among those of a pool. */
export function answerKey({ name, version }: { readonly name: string; readonly version: string }): string {
  return version === '' ? name : `${name}@${version}`;
}
