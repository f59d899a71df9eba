/** What is done next in a world of families. */
import type { HoldingFamily } from '../../engine/src/workflow/machine/selecting.js';

/** A run of the world. */
export interface WorldRun extends HoldingFamily {
  readonly runId: string;
  isOpen: boolean;
  /** What is done to it is done one after the other, as by the one node that owns it. */
  turn: Promise<unknown>;
}

/** An operation. */
export type Drawn =
  | { readonly kind: 'start' }
  | { readonly kind: 'bear' | 'close'; readonly run: WorldRun }
  | { readonly kind: 'select'; readonly run: WorldRun; readonly path: string; readonly slate: number };

/**
 * Draws an operation; families have a few runs, and end about as often as they begin.
 *
 * @param few runs that are open before no family begins any more
 */
export function admissionOps(draw: () => number, runs: readonly WorldRun[], few: number): Drawn {
  const open = runs.slice(-200).filter(({ isOpen }) => isOpen);
  const run = open[Math.floor(draw() * open.length)];
  const dice = draw();
  if (run === undefined || (open.length < few && dice < 0.1)) return { kind: 'start' };
  if (dice < 0.25 && open.length < few * 2) return { kind: 'bear', run };
  if (dice < 0.6) return { kind: 'close', run };
  return { kind: 'select', run, path: `s${Math.floor(draw() * 3)}`, slate: 1 + Math.floor(draw() * 3) };
}
