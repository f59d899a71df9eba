/**
 * Looks at the clocks of assignments when they are due: warns, notes breaches, and has late work routed again.
 *
 * Every node looks; a clock is taken under a lock that others pass over. Invariants: 1. a warning or breach is told
 * once it is committed, by the node that wrote it; 2. late work is routed again under a key of idempotency that its
 * clock names: a node that dies in between is followed by one that gets the same decision; 3. the recipient that is
 * late keeps the work until somebody else has it; 4. one clause of an assignment after the other has it routed again,
 * whichever nodes look: the next one does when nothing came of the one before, so that work is never routed on twice.
 */
import type { Assignments } from '../../capacity/index.js';
import { DuctorError } from '../../kernel/index.js';
import { BATCH, DueDriver, NOBODY, type DueDriverParts } from '../due/due-driver.js';
import type { RouteAsk } from '../lane/ask.js';
import type { RouteCall, Routed } from '../lane/route-call.js';
import { isBroken, nextLookUs, stepOf, type Step } from './clock.js';
import { isRouteAsk, moreUrgent } from './late-ask.js';
import { noteRerouted, takeDueClocks, writeClocks, type DueClock, type StoredClock } from './sql/clocks.js';

/** How long a clock rests before late work is tried to be routed once more. */
const AGAIN_US = 30_000_000;
const METHOD = '/ductor.v1.AssignmentService/ReleaseAssignment';

/** What became of a clause. */
export interface SlaEvent {
  readonly kind: 'warned' | 'breached' | 'rerouted';
  readonly clock: StoredClock;
  readonly recipientId: string;
  readonly poolId: string;
}

/** What it works with. */
export interface SlaDriverParts extends DueDriverParts {
  readonly assignments: Pick<Assignments, 'act'>;
  readonly route: (call: RouteCall) => Promise<Routed>;
  /** Told once it is committed. */
  readonly onEvent: (event: SlaEvent) => void;
}

/** A clock after a look. */
interface Looked {
  readonly due: DueClock;
  readonly step: Step;
  readonly became: StoredClock & { readonly nextUs: number | null };
}

function looked(due: DueClock, nowUs: number): Looked {
  const step = stepOf(due, due.progress, nowUs);
  const became: StoredClock = {
    ...{ tenantId: due.tenantId, assignmentId: due.assignmentId, clause: due.clause },
    ...{ warnUs: due.warnUs, dueUs: due.dueUs, settledUs: due.settledUs },
    ...{ pausedUs: due.pausedUs, stoodUs: due.stoodUs, escalateBy: due.escalateBy },
    warnedUs: step === 'warn' ? nowUs : due.warnedUs,
    breachedUs: step === 'breach' ? nowUs : due.breachedUs,
  };
  if (step === 'settle' && due.breachedUs === null)
    return { due, step, became: { ...became, settledUs: nowUs, pausedUs: null, nextUs: null } };
  const isOpen = due.progress.endedUs === null;
  // Looked at again until late work has been routed: whoever was to do that may have died.
  const again = became.breachedUs !== null && isOpen && due.again !== null ? nowUs + AGAIN_US : null;
  return { due, step, became: { ...became, nextUs: again ?? nextLookUs(became) } };
}

/**
 * What is asked for: more urgent by what broken clauses have raised it, and with the time that clocks stood still. A
 * clause that was due before is broken or was kept for good, so that a second try asks for the same.
 */
function askOf(ask: RouteAsk, { raising, progress, stoodUs }: DueClock): RouteAsk {
  const by = raising.reduce((sum, each) => sum + (isBroken(each, progress) ? each.by : 0), 0);
  return { ...ask, routable: moreUrgent(ask.routable, by), ...(stoodUs > 0 && { pausedUs: stoodUs }) };
}

/** Whether somebody else has it now, or it is where the pool says that it ends. */
function isHandedOn({ isBreached }: RouteAsk, { outcome, outcomeClass }: Routed['stored']): boolean {
  if (outcomeClass === 'success') return true;
  return outcome === 'queued' || outcome === 'queued_for_claim' || (isBreached === true && outcome === 'dead_lettered');
}

const nameOf = ({ assignmentId, clause }: StoredClock): string => `${assignmentId}/${clause}`;

/** The order in which clauses are due; those of one moment by name, as `before` of a clock has it. */
function byDue(a: StoredClock, b: StoredClock): number {
  return a.dueUs - b.dueUs || (a.clause < b.clause ? -1 : 1);
}

/** See above. */
export class SlaDriver extends DueDriver<SlaDriverParts> {
  constructor(parts: SlaDriverParts) {
    super(parts, 'clocks');
  }

  protected async batch(): Promise<number> {
    const found = await this.#lookAtDue();
    for (const { due, step } of found) {
      if (step === 'warn' || step === 'breach') this.#tell(step === 'warn' ? 'warned' : 'breached', due);
    }
    await this.#rerouteAll(found);
    return found.length;
  }

  #tell(kind: SlaEvent['kind'], { recipientId, poolId, ...clock }: DueClock): void {
    this.parts.onEvent({ kind, clock, recipientId, poolId });
  }

  #lookAtDue(): Promise<readonly Looked[]> {
    return this.parts.db.transaction(async (tx) => {
      const due = await takeDueClocks(tx, BATCH);
      const { rows } = await tx.query<{ now_us: number }>('select ductor.now_us() as now_us');
      const found = due.map((each) => looked(each, rows[0]?.now_us ?? each.dueUs));
      await writeClocks(
        tx,
        found.map(({ became }) => became),
      );
      return found;
    });
  }

  /** Has late work of a look routed again, for its clauses in the order in which they were due. */
  async #rerouteAll(found: readonly Looked[]): Promise<void> {
    const over = new Set(found.flatMap(({ became }) => (became.settledUs === null ? [] : [nameOf(became)])));
    const late = found.filter(({ became }) => became.breachedUs !== null).map(({ due }) => due);
    for (const due of late.toSorted(byDue)) {
      // Those before it are under way, here or on another node: it is looked at again after them.
      if (due.before.some((clause) => !over.has(nameOf({ ...due, clause })))) continue;
      if (await this.#cameToNothing(due)) over.add(nameOf(due));
    }
  }

  /**
   * Has late work routed again; when somebody else has it, it is taken from whom it was with. Returns whether it stays
   * there for good.
   */
  async #cameToNothing(due: DueClock): Promise<boolean> {
    const { again, tenantId, assignmentId, clause, progress } = due;
    if (progress.endedUs !== null || !isRouteAsk(again)) return false;
    try {
      const ask = askOf(again, due);
      const idempotencyKey = `sla/${assignmentId}/${clause}`;
      const { stored } = await this.parts.route({ tenantId, principalId: NOBODY, ask, idempotencyKey });
      const isTaken = isHandedOn(ask, stored);
      if (isTaken) await this.#takeAway(due);
      if (stored.outcomeClass === 'infrastructure') return false;
      await noteRerouted(this.parts.db.asTenant(tenantId), due, stored.decisionId);
      if (isTaken) this.#tell('rerouted', due);
      return !isTaken;
    } catch (error) {
      this.parts.onError(error);
      return false;
    }
  }

  async #takeAway({ tenantId, assignmentId, clause }: DueClock): Promise<void> {
    const by = { tenantId, principalId: NOBODY, name: 'sla', scopes: new Set<never>() };
    const action = { assignmentId, verb: 'release' as const, reason: `${clause} was not kept: it was routed again` };
    const [result] = await this.parts.assignments.act({ by, method: METHOD }, [action]);
    // It has ended meanwhile by itself: there is nothing to take.
    if (result instanceof DuctorError && result.code !== 'assignment_state_conflict') throw result;
  }
}
