/** What askers are told, and what they answer. */
import type { Sample } from './samples.js';

/** What to ask for, for so long: at a rate, or with so many questions open at any time. */
export type Phase =
  | { readonly name: string; readonly kind: 'open'; readonly forMs: number; readonly perSecond: number }
  | { readonly name: string; readonly kind: 'closed'; readonly forMs: number; readonly atOnce: number };

/** What became of it. */
export interface PhaseResult {
  readonly name: string;
  readonly samples: readonly Sample[];
}
