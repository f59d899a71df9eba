/**
 * A batch of the gate lane: one transaction of three steps. All locks first, in one order; then what is used is read;
 * then it is decided in this process, and written together with the journal.
 *
 * Locks are taken in the order: fence, families, states of strategies, accounts of capacity, semaphores by tenant and
 * key (docs: commit lanes); a start key or a full mailbox is met with the journal, without a wait.
 */
import { ensureSemaphores, keyArrays, LINE_PAGE, lockSemaphoresSql, nameOf } from '../../capacity/index.js';
import { readSemaphores } from '../../capacity/index.js';
import { writeSemaphores, type SemaphoreKey } from '../../capacity/index.js';
import type { SelectionParts } from '../../routing/index.js';
import { impossible } from '../../kernel/index.js';
import { prepared, uuidArray, type Connection, type Queryable, type Row } from '../../store/index.js';
import type { GateLocks, GateUsage } from '../coordinator/gate-ports.js';
import { BOX_SEALED_MS } from '../coordinator/ports.js';
import type { GateDecision, GateOutcome, TickOutcome, TickWrite } from '../coordinator/ports.js';
import { layOut, type CommitAnswer } from './commit-batch.js';
import { fenceSql, GATE_LANE } from './commit-statement.js';
import { hasReservations, lockReservations, prepareReservations, writeReservations } from './gate-reservations.js';

const LOCK = prepared(
  'gate_lock',
  `with ${fenceSql(GATE_LANE)}, semaphores as materialized (
  ${lockSemaphoresSql('$3', '$4', 'exists (select 1 from fence)')}
)
select (select count(*)::int from fence) as fence, (select count(*)::int from semaphores) as semaphores`,
);

/** Rows that a process knows to be there, so that they need not be made: semaphores, documents of decisions. */
export class KnownRows {
  readonly #names = new Set<string>();
  /** By tenant and digest. */
  readonly documents = new Set<string>();

  constructor(readonly limit = 50_000) {}

  missing(keys: readonly SemaphoreKey[]): readonly SemaphoreKey[] {
    return keys.filter((key) => !this.#names.has(nameOf(key)));
  }

  add(keys: readonly SemaphoreKey[]): void {
    if (this.#names.size > this.limit) this.#names.clear();
    for (const key of keys) this.#names.add(nameOf(key));
  }

  addDocuments(names: readonly string[]): void {
    if (this.documents.size > this.limit) this.documents.clear();
    for (const name of names) this.documents.add(name);
  }

  forget(keys: readonly SemaphoreKey[]): void {
    for (const key of keys) this.#names.delete(nameOf(key));
  }
}

const SEAL = prepared(
  'gate_seal',
  `with ${fenceSql(GATE_LANE)}
update ductor.runs r set sealed_until = ductor.now_us() + ${BOX_SEALED_MS * 1000}
from fence, unnest($3::uuid[], $4::uuid[]) as t (tenant_id, run_id)
where r.tenant_id = t.tenant_id and r.run_id = t.run_id`,
);

/** Seals anew the boxes that keep runs from ending: the seal of the commit is gone with its transaction. */
async function seal(session: Queryable, head: readonly unknown[], writes: readonly TickWrite[]): Promise<void> {
  if (writes.length === 0) return;
  const [tenants, runs] = [writes.map(({ tenantId }) => tenantId), writes.map(({ runId }) => runId)];
  await session.query(SEAL, [...head, uuidArray(tenants), uuidArray(runs)]);
}

const FENCE = prepared('gate_fence', `with ${fenceSql(GATE_LANE)} select 1 from fence`);

/** Locks the fence before anything else. */
async function passFence(tx: Queryable, head: readonly unknown[]): Promise<void> {
  const { rowCount } = await tx.query(FENCE, head);
  if (rowCount === 0) throw new Undo({ kind: 'fenced' });
}

/** Ends the transaction without writing. */
class Undo extends Error {
  constructor(
    readonly outcome: GateOutcome,
    readonly unread: readonly TickWrite[] = [],
  ) {
    super('nothing is written');
  }
}

/** Keys in the order in which they are locked, each once. */
function inOrder(keys: readonly SemaphoreKey[]): readonly SemaphoreKey[] {
  const byName = new Map(keys.map((key) => [nameOf(key), key]));
  return [...byName.keys()].sort().flatMap((name) => byName.get(name) ?? []);
}

/** What is written of routing's, and what is known to be there once it is committed. */
interface Writing {
  readonly selection: SelectionParts | undefined;
  readonly known: KnownRows;
  stored: readonly string[];
}

async function write(
  tx: Queryable,
  head: readonly unknown[],
  decision: GateDecision,
  writing: Writing,
): Promise<GateOutcome> {
  const batch = layOut(decision.ticks, GATE_LANE);
  let ticks: readonly TickOutcome[] = decision.ticks.map(() => 'written');
  if (batch !== undefined) {
    const { rows } = await tx.query<CommitAnswer>(batch.statement, [...head, ...batch.values]);
    const answer = rows[0] ?? impossible('commit-without-answer', 'the commit statement returned no row');
    if (answer.fence === 0) throw new Undo({ kind: 'fenced' });
    ticks = batch.outcomes(answer);
  }
  // What the others were granted was decided with what this one gave back.
  if (ticks.some((outcome) => outcome !== 'written')) {
    const unread = decision.ticks.filter((_, index) => ticks[index] === 'unread');
    throw new Undo({ kind: 'undone', ticks }, unread);
  }
  await writeSemaphores(tx, decision.semaphores);
  const { selection, known } = writing;
  writing.stored = await writeReservations(tx, decision.reservations, selection, known.documents);
  return { kind: 'committed', ticks };
}

/**
 * Commits a batch. Throws what the database throws.
 *
 * @param head node and its session of the gate lane
 * @param decide called under the locks, again with longer lines while it says that they are too short
 */
export async function commitGated(
  session: Connection,
  head: readonly unknown[],
  locks: GateLocks,
  known: KnownRows,
  decide: (usage: GateUsage) => GateDecision,
  selection?: SelectionParts,
): Promise<GateOutcome> {
  const keys = inOrder(locks.semaphores);
  const missing = known.missing(keys);
  await ensureSemaphores(session, missing);
  known.add(missing);
  const isPlain = !hasReservations(locks);
  const prepared = await prepareReservations(session, locks, selection);
  const writing: Writing = { selection, known, stored: [] };
  try {
    const outcome = await session.transaction(async (tx) => {
      if (!isPlain) await passFence(tx, head);
      const reservations = await lockReservations(tx, prepared, selection);
      if (reservations === undefined) throw new Undo({ kind: 'repeat', sqlState: '40001' });
      const { rows } = await tx.query<Row & { fence: number; semaphores: number }>(LOCK, [...head, ...keyArrays(keys)]);
      const [locked] = rows;
      if (locked === undefined || locked.fence === 0) throw new Undo({ kind: 'fenced' });
      if (locked.semaphores < keys.length) {
        known.forget(keys);
        throw new Undo({ kind: 'repeat', sqlState: '40001' });
      }
      for (let page = LINE_PAGE; ; page *= 10) {
        const { nowUs, usages } = await readSemaphores(tx, keys, locks.runIds, page);
        const decision = decide({ nowUs, semaphores: usages, reservations });
        if (!decision.isShort) return await write(tx, head, decision, writing);
      }
    });
    known.addDocuments(writing.stored);
    return outcome;
  } catch (error) {
    if (!(error instanceof Undo)) throw error;
    await seal(session, head, error.unread);
    return error.outcome;
  }
}
