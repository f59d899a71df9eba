/** Plays random sequences of actions on driven runs, for properties. */
import fc from 'fast-check';
import type { Plan, RunInput, RunState, StepState } from '../machine/index.js';
import { drive, start, type DrivenRun } from './drive.js';
import { acts, type Act } from './random-inputs.js';
import { CASES, plans } from './random-plan.js';

const TERMINAL = ['COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED'];

function isOpen({ status }: StepState): boolean {
  return !TERMINAL.includes(status);
}

/** Steps that have not ended. */
export function open(state: RunState): readonly StepState[] {
  return [...state.steps.values()].filter(isOpen);
}

/** Plays the actions on a started run; looks at every tick. */
export function play(
  plan: Plan,
  sequence: readonly Act[],
  look: (run: DrivenRun, input: RunInput) => void = () => undefined,
) {
  const run = drive(plan);
  run.give(start({ n: 1 }));
  for (const { dtMs, input } of sequence) {
    run.nowUs += dtMs * 1000;
    run.seed += 1;
    look(run, input(run.state, run.nowUs));
  }
  return run;
}

/** Gives one input after another. */
export const giveAll = (run: DrivenRun, input: RunInput): void => void run.give(input);

/**
 * Runs a property over random plans and sequences.
 *
 * @param numRuns how many; more where what it looks for is rare
 */
export function check(property: (plan: Plan, sequence: readonly Act[]) => void, numRuns: number = CASES.numRuns): void {
  fc.assert(fc.property(plans, acts, property), { ...CASES, numRuns });
}
