/** Admission as the pipeline sees it: asked for a whole slate, answered with the numbers it was decided by. */

/** What one recipient of a slate has in use, and how much it may; 0: unlimited. */
export interface Usage {
  readonly id: string;
  readonly units: number;
  readonly used: number;
  readonly limit: number;
  readonly usedToday: number;
  readonly dailyLimit: number;
}

/** The answer for a slate. */
export type Admission =
  | { readonly kind: 'granted' | 'refused'; readonly usage: readonly Usage[] }
  /** The authority could not be asked. This is no answer about capacity. */
  | { readonly kind: 'unavailable' };

/** Asks for a slate. It is all or nothing. */
export type Admit = (poolId: string, slate: readonly { readonly id: string; readonly units: number }[]) => Admission;

/** Whether one recipient has room: the last unit of its limit still fits. */
export function fits({ units, used, limit, usedToday, dailyLimit }: Usage): boolean {
  return (limit === 0 || used + units <= limit) && (dailyLimit === 0 || usedToday + units <= dailyLimit);
}

/** The answer that follows from the numbers. */
export function admissionOf(usage: readonly Usage[]): Admission {
  return { kind: usage.every(fits) ? 'granted' : 'refused', usage };
}
