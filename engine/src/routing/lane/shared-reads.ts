/**
 * Where pools stand without locks, read for all that wait for it together: who comes while a read is under way waits
 * for the next, so that each sees everything that was committed before it came.
 */
import { DuctorError } from '../../kernel/index.js';
import type { Binding } from '../core/candidate.js';
import type { PoolView } from '../pipeline/view.js';
import { queuesIn } from '../queue/queues-in.js';
import { readDepths } from '../queue/sql/read-waiting.js';
import { isCurrent, type Standing } from '../standing/standing.js';
import { askedPools, readStanding } from '../standing/sql/read-standing.js';
import { readStates } from '../standing/sql/strategy-states.js';
import type { LaneParts } from './lane-parts.js';
import { World, type WorldParts } from './world.js';

/** Views of pools; undefined for those that there are not. */
export type Views = ReadonlyMap<string, PoolView | undefined>;

/** What a world is made of but for keys, and the world without any: those who only look share it. */
export interface Read {
  readonly parts: Omit<WorldParts, 'bindings' | 'firsts'>;
  readonly world: World;
}

/** Reads of one set of pools. */
interface Reading {
  readonly running: Promise<Read>;
  next: Promise<Read> | undefined;
}

const NO_KEYS = { bindings: new Map<string, Binding>(), firsts: new Map<string, string>() };
const MAX_TRIES = 12;

/** See above. */
export class SharedReads {
  readonly #parts: LaneParts;
  readonly #reading = new Map<string, Reading>();

  constructor(parts: LaneParts) {
    this.#parts = parts;
  }

  /** These pools at a moment after the call, by views that are as they stand then. Throws database_unavailable. */
  async read(tenantId: string, poolIds: ReadonlySet<string>): Promise<Read> {
    const { views } = this.#parts;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const found = await views.pools(tenantId, poolIds);
      const read = await this.#read(tenantId, found);
      const stale = staleIn(found, read.parts.standing);
      if (stale.length === 0) return read;
      views.drop(tenantId, stale);
    }
    throw new DuctorError('database_unavailable', 'the pool changed again and again while it was read');
  }

  #read(tenantId: string, views: Views): Promise<Read> {
    const key = `${tenantId}/${[...views.keys()].sort().join()}`;
    const start = (): Promise<Read> => this.#start(tenantId, views, key);
    const known = this.#reading.get(key);
    if (known === undefined) return start();
    known.next ??= known.running.then(start, start);
    return known.next;
  }

  #start(tenantId: string, views: Views, key: string): Promise<Read> {
    const running = this.#now(tenantId, views).finally(() => {
      if (this.#reading.get(key)?.next === undefined) this.#reading.delete(key);
    });
    this.#reading.set(key, { running, next: undefined });
    return running;
  }

  async #now(tenantId: string, views: Views): Promise<Read> {
    const db = this.#parts.db.asTenant(tenantId);
    const standing = await readStanding(db, tenantId, askedPools(views));
    const stateful = [...views.values()].flatMap((view) => (view?.isStateful === true ? [view.id] : []));
    const states = await readStates(db, tenantId, stateful);
    const found = [...views.values()].filter((view) => view !== undefined);
    const depths = await readDepths(db, tenantId, queuesIn(found, []));
    const parts = { standing, states, views, depths, seedKey: this.#parts.seedKey };
    return { parts, world: new World({ ...parts, ...NO_KEYS }) };
  }
}

function staleIn(views: Views, standing: Standing): readonly string[] {
  return [...views].filter(([id, view]) => !isCurrent(view, standing.pools.get(id))).map(([id]) => id);
}
