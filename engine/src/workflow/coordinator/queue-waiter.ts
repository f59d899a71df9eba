/** How work in the queue of a pool names the step that waits for it. */

/** A step that waits for work. */
export interface QueuedStep {
  readonly runId: string;
  readonly path: string;
}

/** The step as the waiter of its work. */
export function queueWaiterOf({ runId, path }: QueuedStep): string {
  return `${runId}/${path}`;
}

/** The step that a waiter names. */
export function queuedStep(waiter: string): QueuedStep {
  const [runId = '', ...path] = waiter.split('/');
  return { runId, path: path.join('/') };
}
