/** One tick in the making: what all the small files of the machine work on. */
import { impossible, seededRandom, unitInterval, type Random } from '../../kernel/index.js';
import { applyEntry } from './apply-entry.js';
import { isEndDecided, isHeld, openDraft, triesAgain, type Draft } from './draft.js';
import type { Entry } from './entries.js';
import type { Advance, Command, Gate, MachineContext, RunMessage } from './inputs.js';
import { gatesBefore } from './gate-state.js';
import { leftBehind } from './left-behind.js';
import { ownerOfScope, scopeOfPath } from './path.js';
import { stepAt, type ExpressionScope, type Plan, type PlanBody, type PlanEdge, type PlanStep } from './plan.js';
import { expressionsOf } from './scope.js';
import type { Signal } from './signal-box.js';
import { holdingFamily, mayHold } from './selecting.js';
import type { RunState } from './state.js';
import type { Value } from './value.js';

/** How an edge resolved, see resolve-edges.ts. */
export type EdgeResolution = 'FIRED' | 'NEUTRAL' | 'BLOCKED';

/** Where steps run: the top level, or a run of a body. Working memory of one tick. */
export interface Place {
  /** Name of the scope; empty for the top level. */
  readonly scope: string;
  /** The steps of the plan that run there. */
  readonly body: PlanBody;
  /** What they read. */
  readonly expressions: ExpressionScope;
  /** Edges that were resolved in this tick; an edge resolves the same way for ever. */
  readonly resolved: Map<PlanEdge, EdgeResolution>;
}

/** Working memory of one call of advance. */
export interface Tick {
  readonly plan: Plan;
  /** The tick's time: never before the run's last row. Microseconds since 1970. */
  readonly nowUs: number;
  readonly draft: Draft;
  readonly entries: Entry[];
  readonly commands: Command[];
  readonly messages: RunMessage[];
  /** Steps whose attempt was scheduled in this tick: no worker has it yet. */
  readonly scheduled: Set<string>;
  /** Paths of steps that ended and whose outgoing edges have not been looked at, in order. */
  readonly ended: string[];
  /** Steps that wait for no other step may have to begin. */
  rootsDue: boolean;
  /** Places by the names of their scopes. */
  readonly places: Map<string, Place>;
  /** Scopes that may have come to their end, in order. */
  readonly touched: Set<string>;
  /** Steps whose body may go on or be over, in order. */
  readonly owners: Set<string>;
  /** Runs of bodies that have begun in this tick. */
  begun: number;
  /** A number in [0, 1), from the tick's seed. */
  readonly draw: () => number;
  /** What an attempt reported last of its progress. */
  readonly progressOf: (path: string, attempt: number) => Value | null;
  readonly newId: MachineContext['newId'];
  /** See MachineContext. */
  readonly current: Plan | undefined;
  /** The run that continues this one, which this tick closes. */
  successor: Advance['successor'];
  readonly gate: Gate;
  /** Answers an update, once the step that took it has ended. */
  readonly answer: AnswerUpdate;
}

/** See answer-update.ts. */
export type AnswerUpdate = (tick: Tick, path: string, update: Signal) => void;

/** Grants nothing. */
export const CLOSED_GATE: Gate = {
  ...{ ask: () => null, select: () => null, route: () => null, withdraw: () => null, unqueue: () => null },
  ...{ release: () => undefined, bear: () => undefined, close: () => undefined },
};
const NOT_KNOWN = (): null => null;

/** Begins a tick. */
export function openTick(plan: Plan, state: RunState, context: MachineContext, answer: AnswerUpdate): Tick {
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
    messages: [],
    scheduled: new Set(),
    ended: [],
    rootsDue: false,
    places: new Map(),
    touched: new Set(),
    owners: new Set(),
    begun: 0,
    draw: () => unitInterval((random ??= seededRandom(context.seed))),
    progressOf: context.progressOf ?? NOT_KNOWN,
    newId: context.newId,
    current: context.current,
    successor: null,
    gate: context.gate ?? CLOSED_GATE,
    answer,
  };
}

/** Records a fact: it goes to the journal and, by the same code as in a fold, into the state. */
export function emit(tick: Tick, entry: Entry): void {
  const gates = gatesBefore(tick.draft, entry);
  const update = tick.plan.updates.size === 0 ? undefined : updateEndedBy(tick, entry);
  const left = leftBehind(tick.draft, entry);
  applyEntry(tick.draft, entry);
  tick.entries.push(entry);
  for (const { path, wants } of gates) tick.gate.release(path, wants);
  if (left?.claim !== undefined) tick.gate.withdraw(left.claim.itemId);
  if (left?.queued !== undefined) tick.gate.unqueue(left.queued.workId);
  if (update !== undefined && 'path' in entry) tick.answer(tick, entry.path, update);
  const isOver = entry.kind === 'run_closed' && entry.status !== 'CONTINUED';
  if (isOver && mayHold(tick.plan, tick.draft)) tick.gate.close(holdingFamily(tick.draft));
  // What follows from other ends comes through `ended`; a step that was stopped may have been the last of its scope.
  if (entry.kind === 'step_cancelled') touch(tick, entry.path);
}

/** The update whose step comes to its end by an entry that is to be recorded. */
function updateEndedBy({ plan, draft }: Tick, entry: Entry): Signal | undefined {
  switch (entry.kind) {
    case 'step_completed':
    case 'step_failed':
    case 'step_cancelled':
      return draft.steps.get(entry.path)?.taken ?? undefined;
    case 'signal_taken': {
      const { name, id } = entry;
      return plan.updates.has(name)
        ? draft.signals.waiting.find((one) => one.name === name && one.id === id)
        : undefined;
    }
    default:
      return undefined;
  }
}

function touch(tick: Tick, path: string): void {
  const scope = scopeOfPath(path);
  if (scope !== '') tick.touched.add(scope);
}

/** The plan's step at a path that stands in the state. Throws internal when state and plan do not belong together. */
export function planStepAt(tick: Tick, path: string): PlanStep {
  const step = stepAt(tick.plan, path);
  if (step !== undefined) return step;
  impossible('plan-step', `${tick.plan.familySlug} version ${tick.plan.version} has no step ${path}`);
}

function bodyOf(tick: Tick, scope: string): PlanBody {
  if (scope === '') return tick.plan;
  const owner = planStepAt(tick, ownerOfScope(scope));
  const body = owner.type === 'SCATTER' || owner.type === 'LOOP' || owner.type === 'SELECT' ? owner.body : undefined;
  if (body !== undefined) return body;
  return impossible('plan-body', `step ${owner.ref} of ${tick.plan.familySlug} is ${owner.type} and has no body`);
}

/** Where the steps of a scope run. */
export function placeAt(tick: Tick, scope: string): Place {
  const known = tick.places.get(scope);
  if (known !== undefined) return known;
  const body = bodyOf(tick, scope);
  const place = { scope, body, expressions: expressionsOf(tick.draft, scope), resolved: new Map() };
  tick.places.set(scope, place);
  return place;
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

/** Whether nothing of a scope begins any more: it is failing, or a body around it is over. A hold does not count. */
export function isScopeOver({ draft: { steps } }: Tick, scope: string): boolean {
  for (let at = scope; at !== ''; at = scopeOfPath(ownerOfScope(at))) {
    const state = steps.scope(at);
    if (state !== undefined && state.error !== null) return true;
    if (steps.get(ownerOfScope(at))?.status !== 'OPEN') return true;
  }
  return false;
}

/** Whether steps of a scope begin, retry and wake. */
export function scopeGoesOn(tick: Tick, scope: string): boolean {
  return goesOn(tick) && !isScopeOver(tick, scope);
}
