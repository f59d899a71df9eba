/** The bodies of a test: those of the workflows, or what stands for them. */
import { DuctorError } from '../errors.js';
import type { AnyWorkflow } from '../workflow/define-workflow.js';
import type { StepBody, StepContext } from '../workflow/step-context.js';

/** What stands for bodies, by the name of their step; `workflow/step` where two workflows have steps of one name. */
export type FakeSteps = Readonly<Record<string, StepBody<never, unknown>>>;

/** How an attempt is told from the others. */
export type OnHang = (context: StepContext) => void;

const HANGING = new WeakMap<StepContext, () => void>();

/**
 * For a fake: an attempt that does not answer until it is told to stop. The test's time goes on meanwhile, so that
 * timeouts come.
 */
export function hang(context: StepContext): Promise<never> {
  HANGING.get(context)?.();
  return new Promise((_, reject) => {
    const stop = (): void => reject(context.signal.reason);
    if (context.signal.aborted) stop();
    else context.signal.addEventListener('abort', stop, { once: true });
  });
}

/**
 * The body of each step.
 *
 * @param hung told of attempts that hang
 * Throws DuctorError invalid_argument for a fake that no step has.
 */
export function testBodies(
  workflows: readonly AnyWorkflow[],
  fakes: FakeSteps,
  hung: (runId: string, path: string, attempt: number) => void,
): (workflow: string, handler: string) => StepBody<never, unknown> | undefined {
  const known = new Set(
    workflows.flatMap(({ slug, handlers }) => [...handlers.keys()].flatMap((name) => [name, `${slug}/${name}`])),
  );
  for (const name of Object.keys(fakes)) {
    if (known.has(name)) continue;
    throw new DuctorError('invalid_argument', `steps.${name}: no step has a body of this name`, {
      remedy: `use one of ${[...known].join(', ')}`,
    });
  }
  return (slug, handler) => {
    const own = workflows.find((workflow) => workflow.slug === slug)?.handlers.get(handler);
    const body = fakes[`${slug}/${handler}`] ?? fakes[handler] ?? own;
    if (body === undefined) return undefined;
    return (input, context) => {
      HANGING.set(context, () => hung(context.runId, context.path, context.attempt));
      return body(input, context);
    };
  };
}
