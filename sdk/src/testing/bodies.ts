/** The bodies of a test: those of the workflows, or what stands for them. */
import { DuctorError } from '../errors.js';
import type { StepJson } from '../workflow/definition-json.js';
import type { AnyWorkflow } from '../workflow/define-workflow.js';
import type { StepBody, StepContext } from '../workflow/step-context.js';

/** What stands for bodies, by the name of their step; `workflow/step` where two workflows have steps of one name. */
export type FakeSteps = Readonly<Record<string, StepBody<never, unknown>>>;

/** Refs of the steps of a definition that the engine calls by HTTP, those in bodies too. */
function httpRefs(steps: readonly StepJson[]): readonly string[] {
  return steps.flatMap(({ ref, type, body }) => [
    ...(type === 'STEP_TYPE_HTTP' ? [ref] : []),
    ...httpRefs(body?.steps ?? []),
  ]);
}

/**
 * What runs a task: its handler, and of an HTTP step the fake of its name. The engine would call a URL there.
 *
 * Throws DuctorError invalid_argument for an HTTP step without a fake.
 */
export function testHandlers(
  workflows: readonly AnyWorkflow[],
  fakes: FakeSteps,
): (task: { readonly familySlug: string; readonly path: string; readonly handler: string }) => string {
  const http = new Set(
    workflows.flatMap(({ slug, definition }) => httpRefs(definition.steps).map((ref) => `${slug}/${ref}`)),
  );
  for (const name of http) {
    const ref = name.slice(name.indexOf('/') + 1);
    if (fakes[name] !== undefined || fakes[ref] !== undefined) continue;
    throw new DuctorError('invalid_argument', `${name} is an HTTP call, and a test calls nobody`, {
      remedy: `say what it is answered: steps: { ${JSON.stringify(ref)}: () => ({ status: 200, body: {} }) }`,
    });
  }
  return ({ familySlug, path, handler }) => {
    const ref = path.slice(path.lastIndexOf('/') + 1);
    return http.has(`${familySlug}/${ref}`) ? ref : handler;
  };
}

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
 * For a fake: no worker takes the attempts of the step. The test's time goes on meanwhile, so that
 * `scheduleToStartTimeout` comes.
 */
export function noWorker(): never {
  throw new DuctorError('invalid_argument', 'noWorker is called', {
    remedy: 'say it of a step as it is: steps: { charge: noWorker }',
  });
}

/** Whether no worker takes the attempts of a step. */
export function isUnserved(fakes: FakeSteps, slug: string, handler: string): boolean {
  return (fakes[`${slug}/${handler}`] ?? fakes[handler]) === noWorker;
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
    workflows.flatMap(({ slug, handlers, definition }) =>
      [...handlers.keys(), ...httpRefs(definition.steps)].flatMap((name) => [name, `${slug}/${name}`]),
    ),
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
