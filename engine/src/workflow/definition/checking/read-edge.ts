import type { ObjectReader } from './shape.js';

/** An edge between two steps that exist. */
export interface ReadEdge {
  readonly reader: ObjectReader;
  readonly source: string;
  readonly target: string;
  /** Undefined when missing or unknown. */
  readonly type: string | undefined;
  readonly condition: string | undefined;
  readonly case: string | undefined;
}
