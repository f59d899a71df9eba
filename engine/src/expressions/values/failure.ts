/** What can go wrong while an expression runs. Neither class is an Error: they never leave the room, need no stack. */

/**
 * The expression fails on these values. `||`, `&&`, `all` and `exists` may absorb it. Its words never hold a value of
 * the scope: they end in logs and answers, and values may be secrets.
 */
export class CelFailure {
  /** Offset in the text; -1 until the node that failed is known. */
  at = -1;

  constructor(
    readonly problem: string,
    readonly remedy?: string,
  ) {}
}

/** The expression has used up its steps. Nothing absorbs it. */
export class CostExceeded {}

/** The same failure with the place where it happened, unless a place nearer to it is known. */
export function located(caught: unknown, at: number): unknown {
  if (caught instanceof CelFailure && caught.at === -1) caught.at = at;
  return caught;
}
