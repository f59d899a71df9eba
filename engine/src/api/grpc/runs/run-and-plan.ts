/** A run with the plan that it executes. */
import type { Plan, PlanSource, RunKey, RunReader, RunState } from '../ports.js';
import { lastRun, missingRun } from './read-runs.js';
import type { RunLoader } from './run-loader.js';

/** What it needs. */
export interface RunsAndPlans {
  readonly load: RunLoader;
  readonly reader: Pick<RunReader, 'lastOfChain'>;
  readonly plans: PlanSource;
}

/** The last run of a chain, by any of its runs, and its plan. Throws not_found. */
export async function runAndPlan(
  parts: RunsAndPlans,
  key: RunKey,
): Promise<{ readonly state: RunState; readonly plan: Plan }> {
  const state = await lastRun(parts, key);
  if (state === undefined) throw missingRun(key.runId);
  const { tenantId, familySlug, version } = state;
  const known = parts.plans.peek(tenantId, familySlug, version);
  const plan = known ?? (await parts.plans.load(tenantId, familySlug, version));
  if (plan === undefined) throw missingRun(key.runId);
  return { state, plan };
}
