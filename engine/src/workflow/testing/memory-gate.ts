/** Batches of the gate lane in memory. Each happens at one instant. */
import { nameOf } from '../../capacity/index.js';
import { impossible } from '../../kernel/index.js';
import type { GateLocks, GateUsage } from '../coordinator/gate-ports.js';
import type { CommitOutcome, GateDecision, GateOutcome, TickOutcome, TickWrite } from '../coordinator/ports.js';
import { chainIdOf, type MemoryDatabase } from './memory-database.js';
import { familyRuns } from './memory-families.js';
import type { MemoryReservations } from './memory-reservations.js';
import type { MemorySemaphores } from './memory-semaphores.js';

/** So many of a line are read first: few, so that small worlds have longer lines, too. */
const MEMORY_LINE_PAGE = 2;

/** What would become of the writes of a batch, one after the other. */
function probeAll(db: MemoryDatabase, writes: readonly TickWrite[]): readonly TickOutcome[] {
  const taken = new Set<string>();
  const told = new Set<string>();
  return writes.map((write) => {
    const { tenantId, header, startKey, needsEmptyBox, messages = [] } = write;
    const outcome = db.probe(write);
    if (outcome !== 'written') return outcome;
    if (header !== null && startKey !== null) {
      const key = JSON.stringify([tenantId, header.familySlug, startKey.key]);
      if (taken.has(key)) return 'key_taken';
      taken.add(key);
    }
    const boxes = header === null ? [] : [header.runId, chainIdOf(header)];
    if (needsEmptyBox === true && boxes.some((box) => told.has(box))) return 'unread';
    for (const { runId } of messages) told.add(runId);
    return 'written';
  });
}

/** What a batch of the gate lane touches besides the runs. */
export interface GateTables {
  readonly db: MemoryDatabase;
  readonly semaphores: MemorySemaphores;
  readonly reservations: MemoryReservations;
  readonly nowUs: number;
}

/**
 * A batch of the gate lane: all of it or nothing.
 *
 * @param commit writes the ticks as a batch of the plain lane would be
 */
export function commitInGate(
  { db, semaphores, reservations, nowUs }: GateTables,
  nodeId: string,
  locks: GateLocks,
  decide: (usage: GateUsage) => GateDecision,
  commit: (ticks: readonly TickWrite[]) => CommitOutcome,
): GateOutcome {
  if (!db.isUnfenced(nodeId)) return { kind: 'fenced' };
  const { semaphores: keys, runIds } = locks;
  const runs = new Set(runIds);
  const held = reservations.usage(locks, nowUs, { runsOf: (family) => familyRuns(db, family) });
  const unique = [...new Map(keys.map((key) => [nameOf(key), key])).values()];
  const read = (page: number): GateUsage => {
    return { nowUs, semaphores: unique.map((key) => semaphores.usage(key, runs, page)), reservations: held };
  };
  let decision = decide(read(MEMORY_LINE_PAGE));
  for (let page = MEMORY_LINE_PAGE * 10; decision.isShort; page *= 10) decision = decide(read(page));
  const ticks = probeAll(db, decision.ticks);
  if (ticks.some((outcome) => outcome !== 'written')) {
    for (const [index, write] of decision.ticks.entries()) if (ticks[index] === 'unread') db.seal(write);
    return { kind: 'undone', ticks };
  }
  const outcome = commit(decision.ticks);
  if (outcome.kind !== 'committed') return outcome;
  const unwritten = outcome.ticks.findIndex((tick) => tick !== 'written');
  if (unwritten >= 0) impossible('gate-half-written', `tick ${unwritten} is ${outcome.ticks[unwritten]}`);
  semaphores.apply(decision.semaphores);
  reservations.apply(decision.reservations, nowUs);
  return outcome;
}
