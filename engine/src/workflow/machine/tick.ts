/** One tick in the making: what all the small files of the machine work on. */
import { impossible, seededRandom, unitInterval, type Random } from '../../kernel/index.js';
import { applyEntry } from './apply-entry.js';
import { isEndDecided, isHeld, openDraft, triesAgain, type Draft } from './draft.js';
import type { Entry } from './entries.js';
import type { Command, MachineContext } from './inputs.js';
import type { ExpressionScope, Plan, PlanEdge, PlanStep } from './plan.js';
import { scopeOf } from './scope.js';
import type { RunState } from './state.js';
import type { Value } from './value.js';

/** How an edge resolved, see resolve-edges.ts. */
export type EdgeResolution = 'FIRED' | 'NEUTRAL' | 'BLOCKED';

/** Working memory of one call of advance. */
export interface Tick {
  readonly plan: Plan;
  /** The tick's time: never before the run's last row. Microseconds since 1970. */
  readonly nowUs: number;
  readonly draft: Draft;
  readonly entries: Entry[];
  readonly commands: Command[];
  /** Steps whose attempt was scheduled in this tick: no worker has it yet. */
  readonly scheduled: Set<string>;
  /** Paths of steps that ended and whose outgoing edges have not been looked at, in order. */
  readonly ended: string[];
  /** Steps that wait for no other step may have to begin. */
  rootsDue: boolean;
  readonly scope: ExpressionScope;
  /** Edges that were resolved in this tick; an edge resolves the same way for ever. */
  readonly resolved: Map<PlanEdge, EdgeResolution>;
  /** A number in [0, 1), from the tick's seed. */
  readonly draw: () => number;
  /** What an attempt reported last of its progress. */
  readonly progressOf: (path: string, attempt: number) => Value | null;
}

const NOT_KNOWN = (): null => null;

/** Begins a tick. */
export function openTick(plan: Plan, state: RunState, context: MachineContext): Tick {
  // Whole microseconds, rounded down: what is due by it is due by the clock.
  const nowUs = Math.max(Math.floor(context.nowUs), state.atUs);
  const draft = openDraft(state, nowUs);
  let random: Random | null = null;
  return {
    plan,
    nowUs,
    draft,
    entries: [],
    commands: [],
    scheduled: new Set(),
    ended: [],
    rootsDue: false,
    scope: scopeOf(draft),
    resolved: new Map(),
    draw: () => unitInterval((random ??= seededRandom(context.seed))),
    progressOf: context.progressOf ?? NOT_KNOWN,
  };
}

/** Records a fact: it goes to the journal and, by the same code as in a fold, into the state. */
export function emit(tick: Tick, entry: Entry): void {
  applyEntry(tick.draft, entry);
  tick.entries.push(entry);
}

/** The plan's step at a path that stands in the state. Throws internal when state and plan do not belong together. */
export function planStepAt(tick: Tick, path: string): PlanStep {
  const step = tick.plan.stepByRef.get(path);
  if (step !== undefined) return step;
  impossible('plan-step', `${tick.plan.familySlug} version ${tick.plan.version} has no step ${path}`);
}

/** The same for a step that makes attempts. */
export function callbackAt(tick: Tick, path: string): PlanStep & { readonly type: 'CALLBACK' } {
  const step = planStepAt(tick, path);
  if (step.type === 'CALLBACK') return step;
  impossible('plan-attempt', `step ${path} of ${tick.plan.familySlug} is ${step.type} and makes no attempts`);
}

/** Whether a step that is open tries again: the run goes on, or is being compensated. */
export function mayTryAgain({ draft }: Tick): boolean {
  return draft.closed === null && !isHeld(draft) && triesAgain(draft);
}

/** Whether the run begins, retries and wakes steps: it is open, not held, and how it ends is not decided. */
export function goesOn(tick: Tick): boolean {
  const { draft } = tick;
  return draft.closed === null && !isHeld(draft) && !isEndDecided(draft);
}
