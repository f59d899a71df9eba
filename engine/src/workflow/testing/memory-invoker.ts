/**
 * An invoker with hands: what the coordinator dispatches waits here until a test gives it to a worker.
 *
 * An attempt is queued -> out (with a worker) -> finished, or taken off the queue by abort, withdraw or dropShards.
 * An attempt that is queued or out is not queued twice.
 */
import { shardOf } from '../../kernel/index.js';
import type { AbortOrder, AttemptRef, Invoker, Task } from '../coordinator/ports.js';

function nameOf(ref: AttemptRef): string {
  return `${ref.tenantId}/${ref.runId}/${ref.path}/${ref.attempt}`;
}

/** Plain reference of a task. */
export function refOf(task: AttemptRef): AttemptRef {
  return { tenantId: task.tenantId, runId: task.runId, path: task.path, attempt: task.attempt };
}

/** See above. */
export class MemoryInvoker implements Invoker {
  readonly queued = new Map<string, Task>();
  readonly out = new Map<string, { readonly workerId: string; readonly task: Task }>();
  /** Orders for attempts that were out. */
  readonly aborted: AbortOrder[] = [];
  /** Every dispatch that was not a repetition, in order. */
  readonly dispatched: Task[] = [];
  /** Workers that answer an inventory; the test calls workerConnected for them. */
  asked: readonly string[] = [];
  /** Called when the coordinator asks for inventories. */
  onInventory: (() => void) | null = null;

  dispatch(tasks: readonly Task[]): void {
    for (const task of tasks) {
      const name = nameOf(task);
      if (this.queued.has(name) || this.out.has(name)) continue;
      this.queued.set(name, task);
      this.dispatched.push(task);
    }
  }

  abort(orders: readonly AbortOrder[]): readonly AttemptRef[] {
    const never: AttemptRef[] = [];
    for (const order of orders) {
      if (this.queued.delete(nameOf(order))) never.push(refOf(order));
      else this.aborted.push(order);
    }
    return never;
  }

  withdraw(refs: readonly AttemptRef[]): void {
    for (const ref of refs) this.queued.delete(nameOf(ref));
  }

  dropShards(shards: readonly number[]): void {
    for (const [name, task] of this.queued) if (shards.includes(shardOf(task.runId))) this.queued.delete(name);
  }

  inventory(): readonly string[] {
    this.onInventory?.();
    return this.asked;
  }

  /** Gives up to so many queued tasks to a worker, oldest first. */
  take(workerId: string, limit = Number.POSITIVE_INFINITY): readonly Task[] {
    const taken = [...this.queued.values()].slice(0, limit);
    for (const task of taken) {
      this.queued.delete(nameOf(task));
      this.out.set(nameOf(task), { workerId, task });
    }
    return taken;
  }

  /** A worker that connected says that it has this attempt: it is not queued any more. */
  held(workerId: string, ref: AttemptRef): void {
    const name = nameOf(ref);
    const task = this.queued.get(name) ?? this.out.get(name)?.task;
    this.queued.delete(name);
    if (task !== undefined) this.out.set(name, { workerId, task });
  }

  /** The attempt is no longer with its worker. */
  done(ref: AttemptRef): void {
    this.out.delete(nameOf(ref));
  }

  /** The worker is gone: nothing is out with it. */
  lose(workerId: string): void {
    for (const [name, held] of this.out) if (held.workerId === workerId) this.out.delete(name);
  }
}
