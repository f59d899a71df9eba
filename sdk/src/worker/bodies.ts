/** The step bodies of an app's workflows. */
import { DuctorError } from '../errors.js';
import type { AnyWorkflow } from '../workflow/define-workflow.js';
import type { StepBody } from '../workflow/step-context.js';

/** Bodies by workflow and handler. */
export type Bodies = ReadonlyMap<string, ReadonlyMap<string, StepBody<never, unknown>>>;

/** Gathers them. Throws DuctorError invalid_argument when two workflows have one slug. */
export function bodiesOf(workflows: readonly AnyWorkflow[]): Bodies {
  const bodies = new Map<string, ReadonlyMap<string, StepBody<never, unknown>>>();
  for (const workflow of workflows) {
    if (bodies.has(workflow.slug)) {
      const message = `two workflows of this app have the slug ${JSON.stringify(workflow.slug)}`;
      throw new DuctorError('invalid_argument', message, { remedy: 'give each its own slug' });
    }
    bodies.set(workflow.slug, workflow.handlers);
  }
  return bodies;
}
