/** What a step body does: how long it takes and how it ends. */
import type { AttemptRef } from '../../../engine/src/workflow/coordinator/ports.js';
import { jsonValue, MAX_VALUE_BYTES, type AttemptOutcome } from '../../../engine/src/workflow/machine/index.js';
import { attemptName } from '../checks/names.js';
import type { Truth } from '../checks/truth.js';
import type { GivenTask } from './connection.js';
import type { Sim } from '../core/sim.js';
import { VENOM } from '../checks/payloads.js';

/** Bytes that make a run's journal large enough for a snapshot after a few steps. */
const BULK = 'x'.repeat(30_000);

const TOO_LARGE = 'z'.repeat(MAX_VALUE_BYTES);

/** How long the body takes, microseconds. */
export function drawBody(sim: Sim, task: GivenTask): number {
  const { choices, faults } = sim;
  if (faults.strikes('worker_slow')) return (task.timeoutMs + choices.int(1, 6_000)) * 1000;
  return choices.chance(0.1) ? choices.int(500_000, 4_000_000) : choices.int(500, 200_000);
}

/** Text that goes beside the journal, seldom one that no value may hold. */
function huge({ choices }: Sim): string {
  return choices.chance(0.1) ? TOO_LARGE : 'y'.repeat(choices.int(100_000, 400_000));
}

function failure(sim: Sim): AttemptOutcome {
  const { choices } = sim;
  return {
    kind: 'failed',
    code: choices.oneOf('boom', 'boom', 'fatal'),
    message: 'it broke',
    stack: '',
    nonRetryable: choices.chance(0.1),
    retryAfterMs: choices.oneOf(null, null, 0, 1_500),
  };
}

/** How the body ends. The output names its attempt, so that a mix-up shows. */
export function drawOutcome(sim: Sim, truth: Truth, ref: AttemptRef, by: string, isAborted: boolean): AttemptOutcome {
  const { choices, faults } = sim;
  if (isAborted && choices.chance(0.7)) return { kind: 'cancelled' };
  if (faults.strikes('step_failure')) return choices.chance(0.1) ? { kind: 'cancelled' } : failure(sim);
  const isPoison = faults.strikes('poison_payload');
  if (isPoison) truth.poisoned.add(attemptName(ref));
  const large = faults.strikes('huge_payload') ? huge(sim) : truth.isBulky && choices.chance(0.5) ? BULK : '';
  const extra = isPoison ? VENOM : large;
  const output = jsonValue({ of: `${ref.path}#${ref.attempt}`, by, n: choices.random.uint32(), extra });
  return { kind: 'completed', output };
}

/** Whether the body ends its worker's process. One that did so once mostly does so again, until all is healed. */
export function isKiller(sim: Sim, truth: Truth, ref: AttemptRef): boolean {
  if (sim.faults.isHealed) return false;
  const step = `${ref.runId}/${ref.path}`;
  if (truth.killers.has(step)) return sim.choices.chance(0.8);
  if (!sim.faults.strikes('body_kills_worker')) return false;
  truth.killers.add(step);
  return true;
}
