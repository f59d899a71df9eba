/** Kills in mid-run: waits for a good moment, kills with SIGKILL, starts again, and measures both. */
import { sleep, until } from '../support/wait.js';
import { type Show, seconds } from './show.js';
import type { Stage } from './stage.js';

/** A kill that was made. */
export interface Kill {
  readonly what: 'engine' | 'worker';
  /** When, on the wall clock, ms since 1970: comparable with the times of runs. */
  readonly atMs: number;
  /** From the kill until the process was ready again, ms. */
  readonly downMs: number;
  /** From the kill until the next body began, ms. */
  readonly resumedMs: number;
}

/** How long it stays dead, ms: so that the outage is one. */
const DEAD_MS = 250;

/** What to kill and when. */
export interface KillPlan {
  readonly what: Kill['what'];
  /** Beginnings of bodies to wait for, so that the kill lands while steps run. */
  readonly afterBodies: number;
  /** Called once the victim is dead. */
  readonly meanwhile: () => void;
}

/** Kills one of the two once so many bodies have begun in all, and starts it again. */
export async function killInMidRun(stage: Stage, show: Show, plan: KillPlan): Promise<Kill> {
  const { world } = stage;
  const { what, afterBodies } = plan;
  await until(`${afterBodies} bodies to begin`, () => world.bodies().begun >= afterBodies, { everyMs: 2 });
  const victim = what === 'engine' ? stage.engine.child : stage.worker;
  // Killed before anything is looked at: bodies are short, and some of them should be hit.
  const atMs = Date.now();
  const monoMs = performance.now();
  await victim.kill();
  const counts = `bodies begun so far: ${world.bodies().begun}, effects: ${world.ledger().length}`;
  show.kill(`${what} killed (SIGKILL, process ${victim.pid}); ${counts}`);
  plan.meanwhile();
  await sleep(DEAD_MS);
  // What the victim had sent before has begun by now: the next body is one that the restart made possible.
  const { begun } = world.bodies();
  const resumed = until('a body to begin again', () => world.bodies().begun > begun && performance.now(), {
    limitMs: 30_000,
    everyMs: 5,
  });
  // Heard below; when the start fails first, nobody does.
  resumed.catch(() => undefined);
  await (what === 'engine' ? stage.engine.start() : stage.startWorker());
  const downMs = performance.now() - monoMs;
  const resumedMs = (await resumed) - monoMs;
  show.line(`${what} is back after ${seconds(downMs)}; the next body began ${seconds(resumedMs)} after the kill`);
  return { what, atMs, downMs, resumedMs };
}

/** Runs that had started and not ended at the kill, by the times in the engine's own records. */
export async function openAt(stage: Stage, kill: Kill): Promise<number> {
  const { runs } = await stage.client.list({ pageSize: 200 });
  return runs.filter(({ startedAt, closedAt }) => {
    const from = startedAt?.getTime() ?? Number.POSITIVE_INFINITY;
    return from <= kill.atMs && (closedAt?.getTime() ?? Number.POSITIVE_INFINITY) > kill.atMs;
  }).length;
}
