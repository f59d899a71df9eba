/** What strategies in apps' code were asked before a decision. */
import type { Answers } from '../core/answer.js';
import type { PoolView } from '../pipeline/view.js';
import type { RouteAsk } from './ask.js';

/** What was answered about a pool, as it was configured then. */
export interface Asked {
  readonly version: number;
  readonly answers: Answers;
}

/** Whether strategies of the pool have to be asked for this work and were not, or by another version of the pool. */
export function isUnasked(
  view: PoolView,
  { ask, answers }: { readonly ask: RouteAsk; readonly answers: ReadonlyMap<string, Asked> },
): boolean {
  if (view.compiled.customs.length === 0 || ask.recipientId !== undefined) return false;
  return answers.get(view.id)?.version !== view.version;
}
