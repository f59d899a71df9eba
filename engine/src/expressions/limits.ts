/**
 * The limits of one expression. CEL runs synchronously on the engine's thread, so no wall clock can stop it: what an
 * expression may cost is bounded by its size when it is compiled, and by a count of its steps while it runs.
 */
export const LIMITS = {
  /** Size of the text, in bytes of UTF-8. */
  textBytes: 8 * 1024,
  /** Nodes of the syntax tree. */
  nodes: 1_000,
  /** Nesting of brackets, calls, selections and conditions. */
  depth: 64,
  /** Length of a regular expression, in UTF-16 units. */
  patternCharacters: 256,
  /**
   * Steps of one evaluation. A pass through a macro's body costs the nodes of the body, so nested macros cost nodes ×
   * the product of the ranges they really meet; work that grows with the size of a value costs what charge.ts says.
   */
  cost: 1_000_000,
  /** Arguments of one call. */
  arguments: 32,
} as const;
