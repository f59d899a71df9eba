/**
 * What an engine tells its workers to do: only what the committed journal says is to be out, with the input it says,
 * and only within its lease.
 */
import { shardOf } from '../../../engine/src/kernel/index.js';
import type { Invoker, Task } from '../../../engine/src/workflow/coordinator/ports.js';
import { taskOf } from '../../../engine/src/workflow/machine/index.js';
import type { Sim } from '../core/sim.js';
import type { Server, Writer } from '../ports/server.js';
import { shortRef } from './names.js';
import type { Truth } from './truth.js';

/** The checks of orders. */
export class OrderCheck {
  constructor(
    readonly sim: Sim,
    readonly server: Server,
    readonly truth: Truth,
  ) {}

  /** The invoker of a process, watched. */
  watch(invoker: Invoker, writer: Writer): Invoker {
    return {
      dispatch: (tasks) => {
        for (const task of tasks) this.#task(task, writer);
        invoker.dispatch(tasks);
      },
      abort: (orders) => invoker.abort(orders),
      settled: (ref) => invoker.settled?.(ref),
      dropShards: (shards) => invoker.dropShards(shards),
      ...(invoker.inventory === undefined ? {} : { inventory: () => invoker.inventory?.() ?? [] }),
    };
  }

  #task(task: Task, writer: Writer): void {
    const { db } = this.server;
    const owner = db.ownerOf(shardOf(task.runId));
    const isOwner = owner !== null && writer.nodeIds.has(owner) && db.isUnfenced(owner);
    // A node that lost its shards and cannot know it yet may send what was right; its workers' results decide nothing.
    if (!isOwner) return;
    const leaseUntilUs = db.nodes.get(owner)?.leaseUntilUs ?? 0;
    if (leaseUntilUs <= this.sim.nowUs) this.sim.violate(`${shortRef(task)} was dispatched past the lease`);
    const state = this.truth.state(task);
    const step = state?.steps.get(task.path);
    if (state === undefined || step?.attempt !== task.attempt || step.status !== 'SCHEDULED') {
      this.sim.violate(`${shortRef(task)} was dispatched and is ${step?.status ?? 'nowhere'} (${step?.attempt ?? 0})`);
      return;
    }
    const said = taskOf(this.truth.planOf(state), state, task.path);
    if (said === undefined || !isSameTask(said, task)) {
      this.sim.violate(`${shortRef(task)} was dispatched with another body than the journal says`);
    }
  }
}

function isSameTask(a: Task, b: Task): boolean {
  return (
    a.handler === b.handler &&
    a.version === b.version &&
    a.queue === b.queue &&
    a.timeoutMs === b.timeoutMs &&
    a.idempotencyKey === b.idempotencyKey &&
    a.input.encoding === b.input.encoding &&
    Buffer.compare(a.input.data, b.input.data) === 0
  );
}
