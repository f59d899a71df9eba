/**
 * What a SELECT step asks for, and what it is answered: recipients that are held for its family from the very commit
 * that shows them, or nothing at all.
 */
import { DuctorError, type ErrorCode } from '../../kernel/index.js';
import type { Draft } from './draft.js';
import type { Plan, PlanStep } from './plan.js';

/** Whose reservations they are. */
export interface HoldingFamily {
  /** The run at the top of the family. */
  readonly rootId: string;
  /** The first run of the chain. */
  readonly chainId: string;
  /** The run whose step started it; null: nobody's. */
  readonly parentId: string | null;
}

/** What is to be chosen. */
export interface Selecting {
  readonly path: string;
  readonly family: HoldingFamily;
  /** Name or id of the pool; empty: the tenant's rules say which. */
  readonly pool: string;
  /** The work as it is routed. */
  readonly routable: unknown;
  /** Recipients to choose at most; null: as many as the pool says. */
  readonly slateSize: number | null;
  /** Fewer than these are no choice. */
  readonly atLeast: number;
  /** Limits that the version pins, units, by recipient. */
  readonly pinned: ReadonlyMap<string, number>;
}

/** One that was chosen. */
export interface Chosen {
  readonly id: string;
  readonly name: string;
  readonly external_id: string;
  readonly type: string;
  readonly units: number;
}

/** The answer. */
export type Selected =
  | {
      readonly kind: 'granted';
      readonly poolId: string;
      readonly digest: string;
      /** The chain held exactly this slate already. */
      readonly isReused: boolean;
      /** In order. */
      readonly recipients: readonly Chosen[];
      /** What was decided by, kept in a record; absent in journals of before there was one. */
      readonly decisionId?: string;
    }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly message: string };

/** The family and chain that what a run selects is held for. */
export function holdingFamily({ before, family, chain }: Draft): HoldingFamily {
  const chainId = chain?.chainId ?? before.runId;
  return { rootId: family?.rootId ?? chainId, chainId, parentId: family?.parentId ?? null };
}

/** Whether a step may come to hold something that the end of its run gives back. */
export function mayHoldBy(step: PlanStep): boolean {
  if (step.type === 'SELECT') return true;
  if (step.type === 'ROUTE' && step.isSeatOfFamily) return true;
  return (step.type === 'ROUTE' || step.type === 'CLAIM') && step.endsWithRun;
}

/**
 * Whether something may be held that the end of the run, or of its children, gives back: by its own steps, by a run
 * before it in its chain, or by a run above it. Says so before anything is held, so that no end can be missed.
 */
export function mayHold({ selects }: Pick<Plan, 'selects'>, { family, chain }: Draft): boolean {
  return selects || family?.mayHold === true || chain?.mayHold === true;
}

/**
 * The same for children that a run starts now: they may outlive it, and its chain may come to hold something with the
 * steps of another version, which nobody knows yet.
 */
export function mayHoldAbove(plan: Plan, draft: Draft): boolean {
  if (mayHold(plan, draft)) return true;
  for (const step of plan.stepByRef.values()) if (step.type === 'CONTINUE_AS_NEW' && step.isCurrent) return true;
  return false;
}

/** The refusal as the error of the step. */
export function refusalOf({ code, message }: Selected & { readonly kind: 'refused' }): DuctorError {
  return new DuctorError(code, message);
}
