/** Checks that steps which wait for signals of one name can share them. */
import { canonicalJson } from '../../../kernel/index.js';
import { signalName } from '../step-types/signal-arg.js';
import type { ReadStep } from './check-step.js';
import { childPath } from './problems.js';
import type { ReadLevel } from './read-level.js';
import { field } from './shape.js';
import { stepsOf } from './steps-of.js';

const APPROVAL = 'STEP_TYPE_APPROVAL';

/** What a sender has to know of a signal. */
function contractOf({ type, args }: ReadStep): string {
  return `${type?.name ?? ''} ${canonicalJson(field(args, 'schema') ?? null)}`;
}

/**
 * Says names that two steps use for different things, and approvals that could not be told apart.
 *
 * @param takers steps that wait for updates instead
 */
export function checkSignals(root: ReadLevel, takers: { has(ref: string): boolean }): void {
  const first = new Map<string, ReadStep>();
  for (const [step, isInBody] of stepsOf(root, false)) {
    const { type, ref = '', args, reader } = step;
    if (type?.signalOf === undefined || takers.has(ref)) continue;
    if (isInBody && type.name === APPROVAL) {
      const remedy = 'Start a workflow for each item, or use a STEP_TYPE_SIGNAL.';
      reader.problems.add(
        childPath(reader.path, 'type'),
        type.name,
        'is not supported in a body by this version',
        remedy,
      );
    }
    const name = signalName({ ref, args });
    const earlier = first.get(name);
    if (earlier === undefined) {
      first.set(name, step);
      continue;
    }
    if (type.name !== APPROVAL && contractOf(earlier) === contractOf(step)) continue;
    const problem = `is the signal of step ${earlier.ref ?? ''} too, and not the same thing`;
    const remedy = 'Give it a name of its own; steps share a signal only when both are signals of one schema.';
    reader.problems.add(childPath(childPath(reader.path, 'args'), 'name'), name, problem, remedy);
  }
}
