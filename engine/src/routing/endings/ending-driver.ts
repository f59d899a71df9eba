/**
 * Ends what is assigned when the runs have ended with which it ends.
 *
 * A chain of runs: noted (with its end, or with work of its own that was routed on) -> taken -> forgotten. Every node
 * looks. Invariants: 1. nothing is released while a run of its chain is open; 2. what is noted stays until all of it
 * has been released, whoever dies; 3. an assignment ends once, under the lock of its account; 4. whoever assigns out
 * of the rows of a run notes its chain in that transaction: nothing that comes after a look is missed.
 */
import type { Assignments } from '../../capacity/index.js';
import { withdrawEnding } from '../../claims/index.js';
import { removeEnding } from '../queue/sql/write-waiting.js';
import { BATCH, DueDriver, NOBODY, type DueDriverParts } from '../due/due-driver.js';
import { ENDING_PAGE, forgetEndings, readEnding, takeEndings } from './sql/endings.js';
import type { Ending, TakenEnding } from './sql/endings.js';

const METHOD = '/ductor.v1.AssignmentService/ReleaseAssignment';
const REASON = 'the run that it was to end with has ended';

/** What it works with. */
export interface EndingDriverParts extends DueDriverParts {
  readonly assignments: Pick<Assignments, 'act'>;
  /** Those of some chains of which a run is open. */
  readonly openAmong: (chains: readonly TakenEnding[]) => Promise<ReadonlySet<Ending>>;
  /** Told once it is committed. */
  readonly onReleased: (released: { readonly tenantId: string; readonly assignmentId: string }) => void;
}

/** See above. */
export class EndingDriver extends DueDriver<EndingDriverParts> {
  constructor(parts: EndingDriverParts) {
    super(parts, 'endings');
  }

  protected async batch(): Promise<number> {
    const taken = await takeEndings(this.parts.db, BATCH);
    const open = await this.parts.openAmong(taken);
    const over = taken.filter((each) => !open.has(each));
    for (const tenantId of new Set(over.map((each) => each.tenantId))) {
      const chainIds = over.flatMap((each) => (each.tenantId === tenantId ? [each.chainId] : []));
      await this.#end(tenantId, chainIds);
    }
    await forgetEndings(this.parts.db, taken);
    return taken.length;
  }

  /** Ends all that is open of these chains. */
  async #end(tenantId: string, chainIds: readonly string[]): Promise<void> {
    const db = this.parts.db.asTenant(tenantId);
    await withdrawEnding(db, tenantId, chainIds);
    await removeEnding(db, tenantId, chainIds);
    const by = { tenantId, principalId: NOBODY, name: 'endings', scopes: new Set<never>() };
    for (;;) {
      const ids = await readEnding(db, tenantId, chainIds);
      const actions = ids.map((assignmentId) => ({ assignmentId, verb: 'release' as const, reason: REASON }));
      // What has ended meanwhile stays as it ended.
      if (actions.length > 0) await this.parts.assignments.act({ by, method: METHOD }, actions);
      for (const assignmentId of ids) this.parts.onReleased({ tenantId, assignmentId });
      if (ids.length < ENDING_PAGE) return;
    }
  }
}
