/** When a pool or a recipient is open, as a decision sees it. */
import { isOpen, nextOpenUs, type Opening } from '../../pools/index.js';

/** Closed at the moment of the decision: all that a record says of opening hours. */
export interface Shut {
  readonly isShut: true;
  readonly nextOpenUs: number | undefined;
}

/** Undefined: always open. */
export type Hours = Opening | Shut | undefined;

/** Whether it is open. */
export function isOpenAt(hours: Hours, nowUs: number): boolean {
  if (hours === undefined) return true;
  return 'isShut' in hours ? false : isOpen(hours, nowUs);
}

/** When it opens next; undefined when nobody can say, or not within a year. */
export function nextOpenAt(hours: Hours, nowUs: number): number | undefined {
  return hours !== undefined && 'isShut' in hours ? hours.nextOpenUs : nextOpenUs(hours, nowUs);
}
