/** What a ROUTE step asks for, and what it is answered: a decision with its assignments, or why there is none. */

/** Work that is to be routed. */
export interface RoutingWork {
  readonly path: string;
  /** Name or id of the pool; empty: the tenant's rules say which. */
  readonly pool: string;
  readonly routable: unknown;
  /** Ids of recipients that must not get it. */
  readonly excluded: readonly string[];
}

/** The answer. */
export type RouteAnswer =
  | { readonly kind: 'routed'; readonly output: unknown }
  | {
      readonly kind: 'failed';
      /** The outcome of the decision, or a code of the catalogue where there is none. */
      readonly code: string;
      readonly message: string;
      readonly isRetryable: boolean;
    };
