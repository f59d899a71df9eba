/**
 * Families of runs that select, end and start children over many sessions at once, by the statements of the gate lane
 * and without journals; triggers say what must never be committed.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { admissionOps, type Drawn, type WorldRun } from './admission-ops.js';
import { WATCHES } from './admission-watches.js';
import { memoryBus } from '../../engine/src/bus/index.js';
import { createCelCompiler } from '../../engine/src/expressions/index.js';
import { seededRandom, systemClock, systemRandom, unitInterval, uuidV7 } from '../../engine/src/kernel/index.js';
import { createRouting } from '../../engine/src/routing/index.js';
import type { Connection, Database, Prepared, Queryable, Result, Row } from '../../engine/src/store/index.js';
import { AdmissionBook } from '../../engine/src/workflow/coordinator/admission-book.js';
import type { GateLocks } from '../../engine/src/workflow/coordinator/gate-ports.js';
import { insertRun } from './insert-run.js';
import { askOf } from '../../engine/src/workflow/coordinator/selection-ask.js';
import type { Selected, Selecting } from '../../engine/src/workflow/machine/selecting.js';
import {
  lockReservations,
  prepareReservations,
  writeReservations,
} from '../../engine/src/workflow/store-postgres/gate-reservations.js';

/** What a planted bug changes of the statements. */
export interface Bug {
  /** Statements, by the beginning of their names, that lock nothing. */
  readonly unlocked?: readonly string[];
  /** What is read, is read before the locks are taken. */
  readonly readsFirst?: boolean;
}

/** How a world goes. */
export interface Pace {
  /** Runs that are open before no family begins any more. */
  readonly few: number;
  /** Share of ends that take a while between what they read and what they write. */
  readonly slow: number;
}

/** What came of the operations. */
export interface Tally {
  granted: number;
  reused: number;
  refused: number;
  closed: number;
  born: number;
  killed: number;
  repeated: number;
  readonly errors: Map<string, number>;
}

/** Name of the one pool. */
export const POOL = 'hot';

/** How one selection is made; a slate of one at session 0, unless it says otherwise. */
interface Picking {
  readonly slate?: number;
  /** Limits that the definition has pinned, by recipient. */
  readonly pinned?: ReadonlyMap<string, number>;
  readonly session?: number;
}

interface Picked extends Picking {
  readonly path: string;
}

/** Statements that lock nothing: they answer as if they had. */
class Unlocked implements Queryable {
  constructor(
    readonly tx: Queryable,
    readonly names: readonly string[],
  ) {}

  async query<R extends Row>(statement: string | Prepared, values: readonly unknown[] = []): Promise<Result<R>> {
    const name = typeof statement === 'string' ? '' : statement.name;
    if (!this.names.some((each) => name.startsWith(each))) return this.tx.query<R>(statement, values);
    if (!name.startsWith('capacity_lock_families')) return { rows: [], rowCount: 0 };
    const text = typeof statement === 'string' ? statement : statement.text;
    return this.tx.query<R>(text.replace('for update of f', ''), values);
  }
}

/** The world. */
export class AdmissionWorld {
  readonly runs: WorldRun[] = [];
  readonly tally: Tally = {
    ...{ granted: 0, reused: 0, refused: 0, closed: 0, born: 0, killed: 0, repeated: 0 },
    errors: new Map(),
  };
  readonly #clock = systemClock();
  readonly #random = systemRandom();
  readonly #draw: () => number;
  /** Whoever routes, claims and assigns beside the families. */
  readonly routing: ReturnType<typeof createRouting>;
  #sessions: (Connection | undefined)[] = [];

  constructor(
    readonly db: Database,
    readonly tenantId: string,
    readonly bug: Bug = {},
    seed = 1,
    readonly pace: Pace = { few: 40, slow: 0.05 },
    /** Whose runs they are that it begins: after a crash another one can take them over. */
    readonly owner = 'world',
  ) {
    const [clock, cel] = [this.#clock, createCelCompiler()];
    const random = seededRandom(seed);
    this.#draw = () => unitInterval(random);
    this.routing = createRouting({
      ...{ db, cel, clock, bus: memoryBus(clock), newId: () => this.newId() },
      ...{ seedKey: new Uint8Array(32), engine: { version: 'test', tzdb: '' } },
    });
  }

  newId(): string {
    return uuidV7(this.#clock.nowUs(), this.#random);
  }

  /** Makes the pool and its recipients, and the triggers that watch; ids of the recipients. */
  async open(capacities: readonly object[]): Promise<readonly string[]> {
    const by = { tenantId: this.tenantId, principalId: this.newId(), name: 'test', scopes: new Set<never>() };
    const caller = { by, method: 'test' };
    const pool = await this.routing.pools.create(caller, { name: POOL, strategy: 'round_robin' });
    const ids: string[] = [];
    for (const [index, capacity] of capacities.entries()) {
      const fields = { name: `r${index}`, state: 'RECIPIENT_STATE_AVAILABLE', capacity };
      ids.push((await this.routing.recipients.create(caller, pool.poolId, fields)).recipient.recipientId);
    }
    await this.db.query('create table if not exists ductor.test_violation (what text not null)');
    for (const text of WATCHES) await this.db.query(text);
    return ids;
  }

  /** A run that is open; without a parent it is the root of a family. */
  async begin(parent: WorldRun | null = null): Promise<WorldRun> {
    await this.#insert(parent);
    return this.runs.at(-1) ?? Promise.reject(new RangeError('no run'));
  }

  /** Takes over the open runs of owners that work no more. */
  async adopt(owners: readonly string[]): Promise<void> {
    const { rows } = await this.db.query<Row & { run_id: string; root_id: string | null; parent_id: string | null }>(
      `select run_id, root_id, parent_id from ductor.runs
        where tenant_id = $1::uuid and closed_at is null and family_slug = any ($2::text[]) order by run_id`,
      [this.tenantId, owners],
    );
    for (const { run_id: runId, root_id: rootId, parent_id: parentId } of rows) {
      const link = { rootId: rootId ?? runId, chainId: runId, parentId };
      this.runs.push({ runId, ...link, isOpen: true, turn: Promise.resolve() });
    }
  }

  /** One selection over a session of that number, and what it came to; what fails rejects. */
  async selectOnce(run: WorldRun, path: string, more: Picking = {}): Promise<Selected> {
    return this.#selected(await this.#session(more.session ?? 0), run, { path, ...more }, false);
  }

  /** Ends a run. */
  async closeOne(run: WorldRun): Promise<void> {
    await this.#close(await this.#session(0), run, false);
  }

  /** Operations, so many at a time, each over a session of its own. */
  async work(sessions: number, operations: number, kills: number): Promise<void> {
    let left = operations;
    await Promise.all(
      Array.from({ length: sessions }, async (_, index) => {
        while (left > 0) {
          left -= 1;
          await this.#one(index, this.#draw() < kills);
        }
      }),
    );
  }

  /**
   * A child ends slowly while its parent selects and ends: who of the two is the last releases what the parent holds.
   * Whoever has to wait for the other does so for as long as the child takes.
   */
  async race(): Promise<void> {
    await this.#insert(null);
    const parent = this.runs.at(-1);
    await this.#insert(parent ?? null);
    const child = this.runs.at(-1);
    if (parent === undefined || child === undefined) throw new TypeError('no family');
    const [first, second] = [await this.#session(0), await this.#session(1)];
    const [hasRead, isOver] = [latch(), latch()];
    const slowly = async (): Promise<void> => {
      hasRead.open();
      await Promise.race([isOver.opened, pause(SLOWLY_MS)]);
    };
    const ending = this.#close(second, child, false, slowly);
    await hasRead.opened;
    await this.#select(first, parent, 'a', 1, false);
    await this.#close(first, parent, false);
    isOver.open();
    await ending;
  }

  /** Ends all that is open. */
  async end(): Promise<void> {
    for (const run of this.runs) {
      for (let tries = 0; run.isOpen && tries < 20; tries += 1) await this.#do(0, { kind: 'close', run }, false);
    }
    await this.leave();
  }

  /** Closes its sessions; what is open stays so. */
  async leave(): Promise<void> {
    for (const session of this.#sessions) await session?.close();
    this.#sessions = [];
  }

  async #one(session: number, isKilled: boolean): Promise<void> {
    const drawn = admissionOps(this.#draw, this.runs, this.pace.few);
    await this.#do(session, drawn, isKilled);
  }

  async #do(index: number, drawn: Drawn, isKilled: boolean): Promise<void> {
    if (drawn.kind === 'start') return this.#insert(null);
    const { run } = drawn;
    const turn = run.turn.then(() => (run.isOpen ? this.#act(index, drawn, isKilled) : undefined));
    run.turn = turn.catch(() => undefined);
    await turn;
  }

  async #act(index: number, drawn: Exclude<Drawn, { readonly kind: 'start' }>, isKilled: boolean): Promise<void> {
    const { run } = drawn;
    if (drawn.kind === 'bear') return this.#insert(run);
    try {
      const session = await this.#session(index);
      if (drawn.kind === 'select') await this.#select(session, run, drawn.path, drawn.slate, isKilled);
      else await this.#close(session, run, isKilled);
    } catch (error) {
      await this.#failed(run, error, isKilled);
    }
  }

  /** A session that was cut: nobody knows what is committed until it is looked at. */
  async #failed(run: WorldRun, error: unknown, isKilled: boolean): Promise<void> {
    if (error instanceof Again) this.tally.repeated += 1;
    else if (isKilled) this.tally.killed += 1;
    else {
      const words = String(error instanceof Error ? error.message : error);
      const code = /SQLSTATE (\w+)/.exec(words)?.[1] ?? words;
      this.tally.errors.set(code, (this.tally.errors.get(code) ?? 0) + 1);
    }
    const { rows } = await this.db.query<Row & { is_open: boolean }>(
      'select closed_at is null as is_open from ductor.runs where run_id = $1::uuid',
      [run.runId],
    );
    run.isOpen = rows[0]?.is_open ?? false;
  }

  async #session(index: number): Promise<Connection> {
    const known = this.#sessions[index];
    if (known !== undefined && !known.isLost) return known;
    const session = await this.db.connect({ name: `admission ${index}` });
    this.#sessions[index] = session;
    return session;
  }

  async #insert(parent: WorldRun | null): Promise<void> {
    const runId = this.newId();
    const rootId = parent?.rootId ?? runId;
    await insertRun(this.db, { tenantId: this.tenantId, runId }, parent, this.owner);
    if (parent !== null) this.tally.born += 1;
    const link = { rootId, chainId: runId, parentId: parent?.runId ?? null };
    this.runs.push({ runId, ...link, isOpen: true, turn: Promise.resolve() });
  }

  async #close(session: Connection, run: WorldRun, isKilled: boolean, before?: () => Promise<void>): Promise<void> {
    const locks = this.#locks(run, []);
    await this.#inGate(session, locks, isKilled, async (tx, book) => {
      if (!book.close({ ...run, tenantId: this.tenantId, family: run })) throw new Error('not locked');
      await before?.();
      if (this.#draw() < this.pace.slow) await tx.query('select pg_sleep(0.06)');
      await tx.query('update ductor.runs set closed_at = ductor.now_us() where run_id = $1::uuid', [run.runId]);
    });
    run.isOpen = false;
    this.tally.closed += 1;
  }

  async #select(session: Connection, run: WorldRun, path: string, slate: number, isKilled: boolean): Promise<void> {
    const answer = await this.#selected(session, run, { path, slate }, isKilled);
    if (answer.kind === 'refused') this.tally.refused += 1;
    else if (answer.isReused) this.tally.reused += 1;
    else this.tally.granted += 1;
  }

  async #selected(session: Connection, run: WorldRun, picking: Picked, isKilled: boolean): Promise<Selected> {
    const { path, slate = 1, pinned = new Map() } = picking;
    const selecting: Selecting = {
      ...{ path, family: run, pool: POOL, routable: {}, slateSize: slate, atLeast: slate, pinned },
    };
    const ask = askOf(run.runId, selecting, undefined);
    const locks = this.#locks(run, [{ tenantId: this.tenantId, path, pool: POOL, reached: [], ask }]);
    return this.#inGate(session, locks, isKilled, (_tx, book) => {
      const told = book.select({ ...run, tenantId: this.tenantId, family: run }, selecting);
      if (told.kind === 'outside') throw new Again();
      const { added, tenants } = book.changes();
      const isChanged = added.length > 0 || tenants.some(({ accounts, states }) => accounts.length + states.size > 0);
      if (told.kind === 'refused' && isChanged) throw new Error('a refusal changes something');
      return told;
    });
  }

  #locks({ rootId }: WorldRun, selections: GateLocks['selections']): GateLocks {
    return {
      semaphores: [],
      runIds: [],
      selections,
      items: [],
      works: [],
      families: [{ tenantId: this.tenantId, rootId }],
    };
  }

  async #inGate<T>(
    session: Connection,
    locks: GateLocks,
    isKilled: boolean,
    act: (tx: Queryable, book: AdmissionBook) => T | Promise<T>,
  ): Promise<T> {
    const { selection } = this.routing;
    const { unlocked = [], readsFirst = false } = this.bug;
    const prepared = await prepareReservations(session, locks, selection);
    const killAt = Math.floor(this.#draw() * 3);
    return session.transaction(async (tx) => {
      const early = readsFirst ? await lockReservations(new Unlocked(tx, ALL_LOCKS), prepared, selection) : undefined;
      const locked = await lockReservations(new Unlocked(tx, unlocked), prepared, selection);
      const usage = early ?? locked;
      if (usage === undefined) throw new Again();
      const book = new AdmissionBook(usage, () => this.newId());
      if (isKilled && killAt === 0) session.destroy();
      const answer = await act(tx, book);
      if (isKilled && killAt === 1) session.destroy();
      await writeReservations(tx, book.changes(), selection, NO_DOCUMENTS);
      if (isKilled && killAt === 2) session.destroy();
      return answer;
    });
  }
}

const NO_DOCUMENTS: ReadonlySet<string> = new Set();

/** So long a child ends for which somebody waits, ms. */
const SLOWLY_MS = 300;

/** Something that is opened once. */
function latch(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

const ALL_LOCKS = ['capacity_lock_accounts', 'capacity_lock_families', 'routing_lock_states'];

/** The locks are to be taken once more: a family ended meanwhile, or a view was old. */
class Again extends Error {}
