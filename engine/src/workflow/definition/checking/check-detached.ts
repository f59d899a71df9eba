/** Checks that detached children can be told of their parent's end where the definition says so. */
import { childPath } from './problems.js';
import type { ReadLevel } from './read-level.js';
import { field } from './shape.js';
import { stepsOf } from './steps-of.js';

/**
 * Says detached children in bodies that are to end with their parent: of an iteration that is over the run keeps its
 * output alone, so that at its end it knows nothing of such a child.
 */
export function checkDetached(root: ReadLevel): void {
  for (const [{ type, args, reader }, isInBody] of stepsOf(root, false)) {
    if (!isInBody || type?.name !== 'STEP_TYPE_SUB_WORKFLOW' || field(args, 'detach') !== true) continue;
    const policy = field(args, 'parent_close_policy');
    if (policy !== 'cancel' && policy !== 'terminate') continue;
    const path = childPath(childPath(reader.path, 'args'), 'parent_close_policy');
    const problem = 'cannot be kept to in a body: a run forgets a detached child with the iteration that started it';
    reader.problems.add(path, policy, problem, 'Wait for the child (without detach), or let it go on: "abandon".');
  }
}
