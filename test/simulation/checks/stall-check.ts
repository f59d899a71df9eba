/**
 * Once nothing goes wrong any more, nothing may lie about: a due time that nobody acts upon, an attempt that is open
 * and is with no worker, in no queue and in no mailbox. A run that ends only because a timeout of minutes came round
 * has been forgotten.
 */
import { SHARD_COUNT } from '../../../engine/src/kernel/index.js';
import type { AttemptRef } from '../../../engine/src/workflow/coordinator/ports.js';
import type { App } from '../cast/app.js';
import type { Engine } from '../cast/engine.js';
import type { Worker } from '../cast/worker.js';
import type { Sim } from '../core/sim.js';
import type { Server } from '../ports/server.js';
import { attemptName, shortRef } from './names.js';
import type { Truth } from './truth.js';

/** How long something may lie about: a worker may be gone for 15 s before its attempts count as lost. */
const PATIENCE_US = 30_000_000;

/** Who may have something. */
export interface Holders {
  readonly engines: readonly Engine[];
  readonly workers: readonly Worker[];
  readonly app: Pick<App, 'has'>;
}

/** The check; asked again and again. */
export class StallCheck {
  #since = new Map<string, number>();

  constructor(
    readonly sim: Sim,
    readonly truth: Truth,
    readonly server: Server,
  ) {}

  /** Looks at everything that is open. */
  look(holders: Holders): void {
    const nowUs = this.sim.scheduler.nowUs;
    const since = new Map<string, number>();
    for (const what of this.#lying(holders)) {
      const firstUs = this.#since.get(what) ?? nowUs;
      since.set(what, firstUs);
      if (nowUs - firstUs > PATIENCE_US) this.sim.violate(`${what} for ${(nowUs - firstUs) / 1_000_000} s`);
    }
    this.#since = since;
  }

  *#lying(holders: Holders): Generator<string> {
    for (const state of this.truth.open()) {
      if (state.parked !== null) continue;
      // Whoever stands in line waits for others; nobody may in the end (loose-ends.ts).
      const isInLine = state.gate?.state === 'waiting';
      if (state.steps.size === 0 && state.paused === null && !isInLine) yield `run ${state.runId} has not begun`;
      for (const { path, attempt, status, dueAtUs } of state.steps.values()) {
        const ref = { tenantId: state.tenantId, runId: state.runId, path, attempt };
        if (dueAtUs !== null && dueAtUs < this.sim.nowUs) yield `${shortRef(ref)} is ${status} and due`;
        const isOut = status === 'SCHEDULED' || status === 'RUNNING';
        if (isOut && !this.#isSomewhere(ref, holders)) yield `${shortRef(ref)} is ${status} and with nobody`;
      }
    }
  }

  #isSomewhere(ref: AttemptRef, { engines, workers, app }: Holders): boolean {
    if (app.has(ref)) return true;
    if (workers.some((worker) => worker.has(ref)) || engines.some((engine) => engine.invoker.has(ref))) return true;
    if (!this.truth.mailedResults.has(attemptName(ref))) return false;
    return [...this.server.db.inbox.values()].some((message) => message.runId === ref.runId);
  }
}

/** Every shard is owned by one engine that lives and knows it. */
export function* unownedShards(server: Server, engines: readonly Engine[]): Generator<string> {
  for (let shard = 0; shard < SHARD_COUNT; shard += 1) {
    const owner = server.db.ownerOf(shard);
    const who = engines.find((engine) => owner !== null && engine.nodeIds.has(owner));
    const knows = engines.filter((engine) => engine.coordinator.ownedShards().includes(shard));
    if (who === undefined) yield `shard ${shard} belongs to ${owner ?? 'nobody'}, and no engine that lives is that`;
    else if (knows.length !== 1 || knows[0] !== who) {
      yield `shard ${shard} is ${who.actor.name}'s, and ${knows.map((one) => one.actor.name).join(', ')} tick it`;
    }
  }
}

/** Shards are shared out evenly: nobody has more than the fair share. */
export function* unfairShares(engines: readonly Engine[]): Generator<string> {
  const share = Math.ceil(SHARD_COUNT / Math.max(1, engines.length));
  for (const engine of engines) {
    const owned = engine.coordinator.ownedShards().length;
    if (owned > share) yield `${engine.actor.name} has ${owned} shards; a fair share is ${share}`;
  }
}
