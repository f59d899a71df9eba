/**
 * What holds of reservations, looked at with every batch of the gate lane.
 *
 * - what is released was held for a chain of which nobody is open any more, nor anybody below it
 * - a body for those who were chosen begins in the row that holds them, and they are held once that is written
 */
import type { GateDecision } from '../../../engine/src/workflow/coordinator/ports.js';
import type { FamilyRun } from '../../../engine/src/workflow/coordinator/gate-ports.js';
import { decodeEntries } from '../../../engine/src/workflow/journal/index.js';
import type { MemoryDatabase } from '../../../engine/src/workflow/testing/memory-database.js';
import { familyRuns } from '../../../engine/src/workflow/testing/memory-families.js';
import type { Sim } from '../core/sim.js';

/** Whether somebody of the chain is open, or of those below it. */
function isAlive(runs: readonly FamilyRun[], chainId: string): boolean {
  const byId = new Map(runs.map((run) => [run.runId, run]));
  return runs.some((open) => {
    if (!open.isOpen) return false;
    for (let at: FamilyRun | undefined = open; at !== undefined; at = byId.get(at.parentId ?? '')) {
      if (at.chainId === chainId) return true;
    }
    return false;
  });
}

/** Looks at a batch that is written. */
export function checkHoldings(sim: Sim, db: MemoryDatabase, { reservations, ticks }: GateDecision): void {
  for (const each of reservations.released) {
    if (!isAlive(familyRuns(db, each), each.chainId)) continue;
    sim.violate(`recipient ${each.recipientId} is released while chain ${each.chainId} is not drained`);
  }
  for (const { runId, entries, seq } of ticks) {
    if (entries.byteLength === 0) continue;
    const held = new Map<string, string>();
    for (const entry of decodeEntries(entries)) {
      if (entry.kind === 'slate_reserved') held.set(entry.path, entry.digest);
      if (entry.kind !== 'step_opened' || (entry.body !== 'select' && entry.body !== 'slate')) continue;
      sim.marks.reach('body_for_chosen');
      const digest = held.get(entry.path);
      const where = `row ${seq} of run ${runId} begins the body of ${entry.path}`;
      if (digest === undefined) sim.violate(`${where}, and nobody is held for it`);
      if (!isClosedBy(entries) && !db.reservations.held.some((each) => each.digest === digest))
        sim.violate(`${where} for nobody`);
    }
  }
}

/** Whether the row ends its run: then nothing is held behind it. */
function isClosedBy(entries: Uint8Array): boolean {
  return decodeEntries(entries).some((entry) => entry.kind === 'run_closed');
}
