/**
 * Makes more of a random plan: what the generator of random plans does not draw is put into the steps that it drew. All
 * of it comes from the stream of wide worlds.
 */
import type {
  ClosePolicy,
  Plan,
  PlanBody,
  PlanStep,
  PlanUpdate,
  Template,
} from '../../../engine/src/workflow/machine/index.js';
import type { SemaphorePlan } from '../../../engine/src/workflow/machine/plan.js';
import { mayHoldBy } from '../../../engine/src/workflow/machine/selecting.js';
import { RUN_INPUT, template } from '../../../engine/src/workflow/testing/plan-builder.js';
import type { Choices } from '../core/choices.js';
import { BENCH, MODEL_POOL, POND, SEAT_POOL } from './pools.js';

type Of<T extends PlanStep['type']> = Extract<PlanStep, { readonly type: T }>;

/** What may be put into a plan. */
export interface Widening {
  readonly choices: Choices;
  /** Workflows that its steps may start. */
  readonly children: readonly string[];
  /** Whether its runs may need room before they begin: those of children would wait for those of their parents. */
  readonly isRoot: boolean;
}

const KEYS = ['x', 'y', 'z'] as const;
const RATE = { key: template(() => 'mail'), limit: 4, perUs: 1_000_000 };
const POLICIES: readonly ClosePolicy[] = ['cancel', 'terminate', 'abandon'];

/** Keys of which some have room for one, and now and then one that each run has for itself. */
function semaphores(choices: Choices): SemaphorePlan {
  const own: Template = template(({ run }) => `own-${String(run['id'])}`);
  const key = choices.chance(0.3) ? own : fixedKey(choices.pick(KEYS) ?? 'x');
  return { concurrency: [{ key, limit: choices.int(1, 2) }], rate: choices.chance(0.2) ? RATE : null };
}

function fixedKey(key: string): Template {
  return template(() => key);
}

/** A step that is to run in an app, with options that it had not. */
function callback(step: Of<'CALLBACK'>, { choices, children }: Widening): PlanStep {
  if (step.compensates !== null && choices.chance(0.3)) {
    const { ref, title, incoming, outgoing, join, compensates } = step;
    const base = { ref, title, incoming, outgoing, join, compensates };
    const familySlug = choices.pick(children) ?? 'leaf';
    return {
      ...base,
      type: 'SUB_WORKFLOW',
      familySlug,
      version: 0,
      input: RUN_INPUT,
      isDetached: false,
      closePolicy: 'cancel',
    };
  }
  return {
    ...step,
    semaphores: choices.chance(0.25) ? semaphores(choices) : step.semaphores,
    priority: choices.chance(0.3) ? choices.int(1, 5) : step.priority,
  };
}

/** A child of any of the workflows there are, now and then of one that there is not. */
function child(step: Of<'SUB_WORKFLOW'>, { choices, children }: Widening): PlanStep {
  const familySlug = choices.chance(0.03) ? 'nowhere' : (choices.pick(children) ?? step.familySlug);
  const version = choices.oneOf(0, 0, 0, 1, step.version);
  return { ...step, familySlug, version, closePolicy: choices.pick(POLICIES) ?? 'cancel' };
}

/** Work that takes a seat of its family, in the place of work that anybody gets. */
function seat(one: Of<'ROUTE'>, { choices }: Widening): PlanStep {
  if (!choices.chance(0.6)) return one;
  return { ...one, pool: choices.oneOf(SEAT_POOL, SEAT_POOL, MODEL_POOL), isSeatOfFamily: choices.chance(0.8) };
}

/** Work that waits in a queue as long as nobody is free, or a seat at once. */
function queued(one: Of<'ROUTE'>, widening: Widening): PlanStep {
  const { choices } = widening;
  if (!choices.chance(0.4)) return seat(one, widening);
  const us = choices.oneOf(0, 1_000_000, 2_000_000, 9_000_000, 60_000_000, null);
  const deadlineUs = (_: unknown, nowUs: number): number | null => (us === null ? null : nowUs + us);
  return { ...one, pool: BENCH, isSeatOfFamily: choices.chance(0.5), deadlineUs };
}

/** Work that somebody has to claim, in the place of a step that waited or gave it away. */
function claim(one: Of<'WAIT'> | Of<'ROUTE'>, { choices }: Widening): PlanStep {
  if (!choices.chance(one.type === 'ROUTE' ? 0.6 : 0.15)) return one;
  const { ref, title, compensates, incoming, outgoing, join } = one;
  const us = choices.oneOf(0, 2_000_000, 8_000_000, 40_000_000, null);
  return {
    ...{ ref, title, compensates, incoming, outgoing, join, type: 'CLAIM' },
    ...{ pool: POND, routable: template(() => ({ type: 'lead' })), exclude: template(() => []) },
    until: choices.oneOf('claimed', 'completed'),
    endsWithRun: one.type === 'ROUTE' && one.endsWithRun,
    deadlineUs: (_, nowUs) => (us === null ? null : nowUs + us),
  };
}

function step(one: PlanStep, widening: Widening): PlanStep {
  switch (one.type) {
    case 'WAIT':
      return claim(one, widening);
    case 'ROUTE': {
      const claimed = claim(one, widening);
      return claimed.type === 'ROUTE' ? queued(claimed, widening) : claimed;
    }
    case 'CALLBACK':
      return callback(one, widening);
    case 'SUB_WORKFLOW':
      return child(one, widening);
    case 'SCATTER':
    case 'LOOP':
      return { ...one, body: body(one.body, widening) };
    case 'SELECT':
      return one.body === undefined ? one : { ...one, body: body(one.body, widening) };
    default:
      return one;
  }
}

function body(one: PlanBody, widening: Widening): PlanBody {
  return { ...one, steps: one.steps.map((each) => step(each, widening)) };
}

/** All steps of a body, those of the bodies in it too. */
function allOf({ steps }: PlanBody): readonly PlanStep[] {
  return steps.flatMap((each) => ('body' in each && each.body ? [each, ...allOf(each.body)] : [each]));
}

/** An update of a step: half of them refuse what is odd, and answer with more than the step comes to. */
function updateOf(name: string, handledBy: string, choices: Choices): PlanUpdate {
  const refuses = choices.chance(0.5);
  const isOdd = (input: unknown): boolean =>
    typeof input === 'object' && input !== null && 'n' in input && Number(input.n) % 2 === 1;
  return {
    ...{ name, handledBy, check: () => [] },
    refusal: refuses ? { reads: [], evaluate: (scope) => (isOdd(scope.update?.()) ? 'it is odd' : null) } : null,
    output: choices.chance(0.5) ? template((scope) => ({ asked: scope.update?.() })) : null,
  };
}

/** Lets some steps of the top level wait for updates. */
function withUpdates(plan: Plan, { choices }: Widening): Pick<Plan, 'steps' | 'updates'> {
  const updates = new Map(plan.updates);
  const steps = plan.steps.map((one) => {
    if (one.type !== 'CALLBACK' || one.compensates !== null || one.takes !== null || !choices.chance(0.1)) return one;
    const name = `ask-${one.ref}`;
    updates.set(name, updateOf(name, one.ref, choices));
    return { ...one, takes: { name, isInput: choices.chance(0.5) } };
  });
  return { steps, updates };
}

/** The same plan with more in it. */
export function widened(plan: Plan, widening: Widening): Plan {
  const { choices, isRoot } = widening;
  const wider = { ...plan, ...body(plan, widening) };
  const { steps, updates } = withUpdates(wider, widening);
  const all = allOf({ steps, output: null });
  const serial = { concurrency: [{ key: fixedKey('wide'), limit: 2 }], rate: null };
  return {
    ...wider,
    ...{ steps, updates },
    stepByRef: new Map(all.map((each) => [each.ref, each])),
    receives: plan.receives || updates.size > 0,
    priority: choices.int(1, 5),
    fairnessKey: choices.chance(0.3) ? fixedKey('customer') : null,
    semaphores: isRoot && choices.chance(0.15) ? serial : plan.semaphores,
    selects: all.some(mayHoldBy),
    queries: choices.chance(0.3)
      ? new Map([['first', template((scope) => scope.stepOutput('s0') ?? null)]])
      : plan.queries,
  };
}
