/** Whose seat or tier it is: the family of runs that selects, or what the pool's key says of other work. */
import type { CelExpression } from '../../expressions/index.js';
import type { Binding, Context } from '../core/candidate.js';

/** Before the owner, in keys of bindings: to a seat, and to the highest tier reached. */
export type SeatKind = 'seat/' | 'tier/';

/** A key that has to be looked up before a choice: of a sticky strategy, or of the owner of a seat or tier. */
export interface AffinityKey {
  readonly kind: '' | SeatKind;
  /** Undefined: the owner is who it is without a key. */
  readonly expression: CelExpression | undefined;
}

/** A binding that does not end by itself: its family ends it. */
export const NEVER_US = Number.MAX_SAFE_INTEGER;

/**
 * The owner; empty: nobody, and nothing is bound.
 *
 * @param key what the pool's key comes to; undefined: the pool has none
 */
export function ownerOf(key: string | undefined, family: string | undefined, routableId: string): string {
  return key ?? family ?? routableId;
}

/** The owner at the moment of a choice. */
export function ownerIn(context: Context, keyOf: CelExpression | undefined): string {
  const key = keyOf === undefined ? undefined : String(context.evaluate(keyOf));
  return ownerOf(key, context.family, context.routable.id);
}

/** The binding of an owner; undefined: it has none, or it is over. */
export function bindingOf({ bindings, nowUs }: Context, kind: SeatKind, owner: string): Binding | undefined {
  const binding = owner === '' ? undefined : bindings.get(`${kind}${owner}`);
  return binding !== undefined && binding.expiresUs > nowUs ? binding : undefined;
}

/** When a new binding of an owner ends. */
export function expiryFor({ family, nowUs }: Context, owner: string, ttlUs: number): number {
  return owner === family ? NEVER_US : nowUs + ttlUs;
}

/** Recipients to whose seats this work is bound. */
export function boundSeats(bindings: ReadonlyMap<string, Binding>, nowUs: number): ReadonlySet<string> {
  const bound = new Set<string>();
  for (const [key, { recipientId, expiresUs }] of bindings) {
    if (key.startsWith('seat/') && expiresUs > nowUs) bound.add(recipientId);
  }
  return bound;
}
