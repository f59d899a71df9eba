/** Who says in wide worlds how work went, met rate limits among it, and the look of each minute at families. */
import { DuctorError } from '../../../engine/src/kernel/index.js';
import type { MemoryReport } from '../../../engine/src/workflow/testing/memory-seats.js';
import type { Engine } from '../cast/engine.js';
import type { Choices } from '../core/choices.js';
import { MODEL_POOL, SEAT_POOL } from './pools.js';
import type { World } from './world.js';

const SECOND_US = 1_000_000;
const MINUTE_US = 60 * SECOND_US;

async function tell(world: World, engine: Engine, report: MemoryReport): Promise<void> {
  try {
    await engine.reports.report(report);
  } catch (error) {
    const { code, message } = DuctorError.from(error);
    if (code !== 'database_unavailable') world.sim.violate(`a report: ${code} ${message}`);
  }
}

/** A success, a failure, or a rate limit; of a seat mostly that, so that seats are lost and tried again. */
function drawReport({ server, sim }: World, choices: Choices): MemoryReport | undefined {
  const pools = server.db.reservations.pools.filter(({ name }) => name === SEAT_POOL || name === MODEL_POOL);
  const view = choices.pick(pools)?.view;
  const member = choices.pick(view?.members ?? []);
  if (view === undefined || member === undefined) return undefined;
  const isLimit = choices.chance(0.35);
  const isSuccess = !isLimit && choices.chance(0.6);
  const resetAtUs = isLimit ? sim.nowUs + choices.int(-SECOND_US, 12 * SECOND_US) : null;
  const startedUs = sim.nowUs - choices.oneOf(0, 0, choices.int(0, 5 * SECOND_US));
  return { view, recipientId: member.id, isSuccess, resetAtUs, startedUs, latencyMs: null };
}

/** Several engines may be told of the same recipient at nearly the same time. */
function report(world: World, choices: Choices): void {
  const first = drawReport(world, choices);
  if (first === undefined) return;
  for (let count = choices.oneOf(1, 1, 2, 3); count > 0; count -= 1) {
    const engine = choices.pick(world.engines.filter((other) => other.isServing));
    if (engine === undefined) continue;
    const resetAtUs = first.resetAtUs === null ? null : first.resetAtUs + choices.int(0, 4 * SECOND_US);
    world.sim.scheduler.after(choices.int(100, 30_000), engine.actor, 'is told how work went', () => {
      void tell(world, engine, { ...first, resetAtUs });
    });
  }
}

/** Some engine looks what families have left, as each of them does each minute. */
function look(world: World, choices: Choices): void {
  const { sim, server } = world;
  const isLeft = server.db.reservations.seats.lasting.length > 0 && !server.isDown;
  const engine = isLeft ? choices.pick(world.engines.filter((other) => other.isServing)) : undefined;
  if (engine !== undefined) {
    sim.scheduler.after(0, engine.actor, 'looks at families', () => {
      void engine.reports.sweep().catch(() => undefined);
    });
  }
  sim.scheduler.after(MINUTE_US, null, 'a minute is over', () => look(world, choices));
}

/** Sets them going: reports for as long as things go wrong, the look for ever. */
export function planReporters(world: World, choices: Choices, untilUs: number): void {
  for (let atUs = choices.int(0, SECOND_US); atUs < untilUs; atUs += choices.int(50_000, 900_000)) {
    world.sim.scheduler.at(atUs, null, 'work went well or not', () => report(world, choices));
  }
  world.sim.scheduler.after(choices.int(0, MINUTE_US), null, 'a minute is over', () => look(world, choices));
}
