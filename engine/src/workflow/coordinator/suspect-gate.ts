/** What the parts of an incarnation ask of its suspects. */
import type { CommitLane } from './gate-ports.js';
import type { RunCell } from './run-cell.js';
import type { ParkReason } from './tick.js';

/** Runs that may end their engine: suspects.ts. */
export interface SuspectGate {
  /** The runs of these shards, which this node just gained, are suspects from now on. Never rejects. */
  begin(shards: readonly number[]): Promise<void>;
  /** Whether the run may be loaded; held until its turn where not. */
  mayLoad(cell: RunCell): boolean;
  /** Whether the run may tick now; held until its turn where not. */
  mayTick(cell: RunCell, lane: CommitLane): boolean;
  /** Why this run is to be parked instead of ticked; null: it is not. */
  verdict(cell: RunCell): ParkReason | null;
  /** Something happened to cells: the group may be over. */
  look(): void;
}
