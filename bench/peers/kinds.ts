/**
 * The workflows every engine here runs. Each is given one number.
 *
 *   seq3   three no-op steps, one after the other
 *   fan50  fifty no-op steps at once, and a join
 *   sleep  sleeps until the number, ms since 1970; then notes how late its code goes on
 *   slow3  three steps of 100 ms, one after the other; each notes its start and its end, the number names the run
 */
export const KINDS = ['seq3', 'fan50', 'sleep', 'slow3'] as const;

/** A workflow of the bench. */
export type Kind = (typeof KINDS)[number];

/** Names of the steps of seq3 and slow3. */
export const SEQUENCE = ['a', 'b', 'c'] as const;

/** Steps a run has, as they are counted in steps/s. */
export const STEPS_OF: Readonly<Record<Kind, number>> = { seq3: 3, fan50: 50, sleep: 1, slow3: 3 };
