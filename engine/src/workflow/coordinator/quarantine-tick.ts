/** The tick by which a run that ends engines is taken out of work, instead of the one that its inputs ask for. */
import type { RunCell } from './run-cell.js';
import { dropTick, parkTick, type ParkReason, type Tick, type TickEnvironment } from './tick.js';

/** What lets a parked run go on. */
const GO_ON: ReadonlySet<string> = new Set(['retry', 'resume']);

/**
 * Parks the run; its inputs stay for later. One that is parked already stays so: what would let it go on is dropped,
 * one a tick, for that ended the engines. Undefined when its next tick may be computed. Throws what the machine throws.
 */
export function quarantineTick(cell: RunCell, reason: ParkReason, env: TickEnvironment): Tick | undefined {
  if (cell.state === null || cell.state.parked === null) return parkTick(cell, reason, null, [], env);
  const dropped = cell.inputs.find(({ input }) => GO_ON.has(input.kind));
  if (dropped === undefined) return undefined;
  cell.inputs = cell.inputs.filter((pending) => pending !== dropped);
  return dropTick(cell, dropped);
}
