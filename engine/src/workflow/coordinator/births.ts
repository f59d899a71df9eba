/** Runs that steps of other runs start: the message names a workflow, and here it becomes a plan. */
import { DEFAULT_PRIORITY, type Plan } from '../machine/plan.js';
import type { Birth, RunInput } from '../machine/inputs.js';
import type { PlanSource } from './ports.js';
import { isBirth, type PendingInput, type RunCell } from './run-cell.js';

/** What a run begins with that is not there yet. */
export interface Born {
  readonly plan: Plan;
  /** Why it fails at once; null: it does not. */
  readonly refusal: { readonly code: string; readonly message: string } | null;
}

/** A plan of no steps, for a run whose workflow cannot be had: it is there to fail, and to say so to its parent. */
export function noPlan({ familySlug, version }: Pick<Birth, 'familySlug' | 'version'>): Plan {
  return {
    ...{
      familySlug,
      version,
      digest: '',
      steps: [],
      stepByRef: new Map(),
      output: null,
      timeoutMs: null,
      retentionMs: null,
    },
    ...{
      onFailure: 'drain',
      onExhausted: 'fail',
      receives: false,
      signals: new Map(),
      ...{ updates: new Map(), queries: new Map() },
      priority: DEFAULT_PRIORITY,
      fairnessKey: null,
      semaphores: null,
      selects: false,
      pinned: new Map(),
      checkInput: () => [],
    },
  };
}

/** The message by which the run of a cell is to begin; undefined when none waits. */
export function birthOf({ inputs }: RunCell): Birth | undefined {
  const input = inputs.find(isBirth)?.input;
  return input?.kind === 'start' ? input.birth : undefined;
}

/**
 * The version that a child executes, pinned here when none was named. Throws what the source throws: the run is then
 * tried again later.
 */
export async function bear(plans: PlanSource, tenantId: string, birth: Birth): Promise<Born> {
  const { familySlug, version } = birth;
  const wanted = version === 0 ? ((await plans.current(tenantId, familySlug)) ?? 0) : version;
  const plan =
    wanted === 0
      ? undefined
      : (plans.peek(tenantId, familySlug, wanted) ?? (await plans.load(tenantId, familySlug, wanted)));
  if (plan !== undefined) return { plan, refusal: null };
  const what = version === 0 ? 'no published version' : `no version ${version}`;
  return { plan: noPlan(birth), refusal: { code: 'workflow_not_published', message: `${familySlug} has ${what}` } };
}

/** The inputs of a run that begins, with the reason why it fails at once. */
export function withRefusal(inputs: readonly PendingInput[], { refusal }: Born): PendingInput[] {
  const refuse = (input: RunInput): RunInput =>
    input.kind === 'start' && refusal !== null ? { ...input, refusal } : input;
  return inputs.map((pending) => (isBirth(pending) ? { ...pending, input: refuse(pending.input) } : pending));
}
