/**
 * What holds of admissions, looked at with every batch of the gate lane and every call about claims.
 *
 * - a step has a slate that its own chain holds for this very step: nobody has another's (I7)
 * - a refusal changes nothing (I10)
 * - a reset zeroes what is committed, and nothing else (I12)
 * - a step fails for want of room where a decision of its batch says so, and for an authority that could not be asked
 *   where its locks were not to be had (I13)
 * - what a decision recorded of each recipient, and whether that fits, give what it recorded (I15)
 */
import { DuctorError } from '../../../engine/src/kernel/index.js';
import type { ClaimResult } from '../../../engine/src/routing/index.js';
import type { MadeDecision } from '../../../engine/src/workflow/coordinator/gate-ports.js';
import type { GateDecision } from '../../../engine/src/workflow/coordinator/ports.js';
import { decodeEntries } from '../../../engine/src/workflow/journal/index.js';
import type { Entry, RunState } from '../../../engine/src/workflow/machine/index.js';
import type { MemoryDatabase } from '../../../engine/src/workflow/testing/memory-database.js';
import type { Counters } from '../../../engine/src/workflow/testing/memory-counters.js';
import type { Sim } from '../core/sim.js';
import { runName } from './names.js';

/** What is known beside the journal of why steps fail. */
export class AdmissionSight {
  /** Runs whose batch of one was refused its locks. */
  readonly lockedOut = new Set<string>();
  /** Outcomes that the batch which is being committed has decided, by run. */
  readonly outcomes = new Map<string, Set<string>>();

  /** The decision of a batch, before its rows are looked at. */
  decided({ reservations }: GateDecision): void {
    this.outcomes.clear();
    for (const { tenantId, made } of reservations.tenants) {
      for (const { runId, decision } of made) {
        const name = runName({ tenantId, runId });
        this.outcomes.set(name, (this.outcomes.get(name) ?? new Set<string>()).add(decision.outcome));
      }
    }
  }
}

const NOTHING: ReadonlySet<string> = new Set();
/** A full recipient is no candidate: what is chosen from those who are left may be too few. */
const NO_ROOM = ['recipient_capacity_exhausted', 'no_eligible_recipient'] as const;

/** Looks at an entry before it is folded. */
export function checkWhy(sim: Sim, sight: AdmissionSight, state: RunState, entry: Entry): void {
  if (entry.kind !== 'step_failed') return;
  // A step fails by what its child, or something in its body, has failed by: that was looked at there.
  const step = state.steps.get(entry.path);
  if ((step?.child ?? null) !== null || (step?.body ?? null) !== null) return;
  const { code } = entry.error;
  const where = `step ${entry.path} of run ${state.runId}`;
  const outcomes = sight.outcomes.get(runName(state)) ?? NOTHING;
  if (code === 'recipient_capacity_exhausted' && !NO_ROOM.some((each) => outcomes.has(each)))
    sim.violate(`${where} found no room, and nobody looked`);
  if (code !== 'capacity_authority_unavailable') return;
  sim.marks.reach('authority_unavailable');
  if (!outcomes.has(code) && !sight.lockedOut.has(state.runId))
    sim.violate(`${where} could not ask for room, and nobody kept it from that`);
}

/** The predicate of admission, written here a second time: the last unit of a limit fits, and 0 is none. */
function hasRoom(used: number, units: number, limit: number): boolean {
  return limit <= 0 || used + units <= limit;
}

function checkRecord(sim: Sim, { decision }: MadeDecision): void {
  for (const { attempts } of decision.hops) {
    for (const { admission } of attempts) {
      if (admission === undefined || admission.kind === 'unavailable') continue;
      const fits = admission.usage.every(({ units, used, limit, usedToday, dailyLimit }) => {
        return hasRoom(used, units, limit) && hasRoom(usedToday, units, dailyLimit);
      });
      sim.marks.reach('recorded');
      if (fits !== (admission.kind === 'granted'))
        sim.violate(`decision ${decision.input.decisionId} is ${admission.kind}, and its numbers say ${String(fits)}`);
    }
  }
}

/** Whether nothing of a batch was granted, freed or ended, and something was refused. */
function isRefusal({ added, released, closed, tenants }: GateDecision['reservations']): boolean {
  const made = tenants.flatMap((tenant) => tenant.made);
  const isAll = made.every(({ decision: { outcomeClass } }) => outcomeClass === 'refused');
  return made.length > 0 && isAll && added.length + released.length + closed.length === 0;
}

/** Whether the row ends its run: then nothing is held behind it. */
function isClosedBy(entries: readonly Entry[]): boolean {
  return entries.some(({ kind }) => kind === 'run_closed');
}

/** Looks at a batch that is written. */
export function checkAdmissions(sim: Sim, db: MemoryDatabase, { reservations, ticks }: GateDecision): void {
  for (const { made } of reservations.tenants) for (const each of made) checkRecord(sim, each);
  if (isRefusal(reservations)) {
    sim.marks.reach('refused_clean');
    for (const { accounts, states } of reservations.tenants)
      if (accounts.length + states.size > 0) sim.violate('a batch in which all was refused changes something');
  }
  const { held } = db.reservations;
  for (const write of ticks) {
    if (write.entries.byteLength === 0) continue;
    const entries = decodeEntries(write.entries);
    if (isClosedBy(entries)) continue;
    for (const entry of entries) {
      if (entry.kind !== 'slate_reserved') continue;
      const chainId = db.runs.get(runName(write))?.header.chain?.chainId ?? write.runId;
      const isOf = (each: (typeof held)[number]): boolean =>
        each.digest === entry.digest && each.chainId === chainId && each.path === entry.path;
      if (!held.some(isOf))
        sim.violate(`step ${entry.path} of run ${write.runId} has a slate that its chain does not hold`);
      sim.marks.reach('slate_own');
    }
  }
}

/** What calls about claims can touch, as it is. */
export function claimGround({ reservations: { claims, accounts } }: MemoryDatabase): readonly unknown[] {
  return [...claims.items.values(), ...claims.assignments.values(), ...accounts.values()];
}

/** Looks at calls about claims: where all are refused, all is what it was. */
export function checkRefusedClaims(
  sim: Sim,
  db: MemoryDatabase,
  before: readonly unknown[],
  results: readonly ClaimResult[],
): void {
  if (!results.every((result) => result instanceof DuctorError)) return;
  const after = claimGround(db);
  const isSame = after.length === before.length && after.every((each, index) => each === before[index]);
  if (!isSame) sim.violate('calls about claims that were refused change something');
}

/** Looks at accounts that were reset. */
export function checkReset(
  sim: Sim,
  before: ReadonlyMap<string, Counters>,
  after: ReadonlyMap<string, Counters>,
): void {
  for (const [id, was] of before) {
    const is = after.get(id);
    if (is === undefined || is.committed !== 0 || is.dailyCommitted !== 0)
      sim.violate(`recipient ${id} was reset, and something is committed`);
    if (is?.held !== was.held || is.dailyAdmitted !== was.dailyAdmitted || is.day !== was.day)
      sim.violate(`recipient ${id} was reset, and what is held is not what it was`);
    if (was.committed > 0) sim.marks.reach('reset');
    if (was.held > 0) sim.marks.reach('reset_while_held');
  }
}
