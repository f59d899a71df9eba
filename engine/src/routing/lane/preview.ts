/**
 * Previews: what Route would decide now. Nothing is locked, written or granted. Where pools stand is read for all
 * previews that wait for it together: one that comes while a read is under way waits for the next, so that it sees
 * everything that was committed before it came.
 */
import { DuctorError } from '../../kernel/index.js';
import type { Binding } from '../core/candidate.js';
import type { Decision } from '../pipeline/decision.js';
import type { PoolView } from '../pipeline/view.js';
import { isCurrent, type Standing } from '../standing/standing.js';
import { readBindings, readFirsts } from '../standing/sql/known-keys.js';
import { readStanding } from '../standing/sql/read-standing.js';
import { readStates } from '../standing/sql/strategy-states.js';
import { affinityKeysOf, dedupeKeyOf, firstPoolOf, type RouteAsk } from './ask.js';
import type { LaneParts } from './lane-parts.js';
import { World, type WorldParts } from './world.js';

const MAX_TRIES = 12;

type Views = ReadonlyMap<string, PoolView | undefined>;

/** What a world is made of but for keys, and the world without any: previews change nothing, so they share it. */
interface Read {
  readonly parts: Omit<WorldParts, 'bindings' | 'firsts'>;
  readonly world: World;
}

/** Reads of one set of pools. */
interface Reading {
  readonly running: Promise<Read>;
  next: Promise<Read> | undefined;
}

const NO_KEYS = { bindings: new Map<string, Binding>(), firsts: new Map<string, string>() };

/** See above. */
export class Previews {
  readonly #parts: LaneParts;
  readonly #reading = new Map<string, Reading>();

  constructor(parts: LaneParts) {
    this.#parts = parts;
  }

  /** Throws database_unavailable. */
  async preview(tenantId: string, ask: RouteAsk): Promise<Decision> {
    const { views, clock, newId } = this.#parts;
    const rules = ask.poolId === undefined ? await views.rules(tenantId) : [];
    const firstPoolId = firstPoolOf(ask, rules, clock.nowUs());
    const reach = new Set(firstPoolId === undefined ? [] : [firstPoolId]);
    const decisionId = newId();
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const found = await views.pools(tenantId, reach);
      const read = await this.#read(tenantId, found);
      const stale = staleIn(found, read.parts.standing);
      views.drop(tenantId, stale);
      if (stale.length > 0) continue;
      const world = await this.#worldFor(tenantId, ask, read, firstPoolId);
      const decision = world.decide({ ask, decisionId, firstPoolId, rules, isGranting: false });
      if (!('missing' in decision)) return decision;
      for (const poolId of decision.missing) reach.add(poolId);
    }
    throw new DuctorError('database_unavailable', 'the pool changed again and again while it was read');
  }

  /** The shared world, or one with bindings and first decisions where pools look for any. */
  async #worldFor(tenantId: string, ask: RouteAsk, { parts, world }: Read, firstPoolId: string | undefined) {
    const nowUs = this.#parts.clock.nowUs();
    const views = [...parts.views.values()].filter((view) => view !== undefined);
    const sticky = views.flatMap((view) => affinityKeysOf(ask, view, nowUs));
    const first = firstPoolId === undefined ? undefined : parts.views.get(firstPoolId);
    const key = first === undefined ? undefined : dedupeKeyOf(ask, first, nowUs);
    if (sticky.length === 0 && key === undefined) return world;
    const db = this.#parts.db.asTenant(tenantId);
    const bindings = await readBindings(db, tenantId, sticky);
    return new World({ ...parts, bindings, firsts: await readFirsts(db, tenantId, key === undefined ? [] : [key]) });
  }

  /** Where pools stand at a moment after the call. */
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
    const standing = await readStanding(db, tenantId, [...views.keys()]);
    const stateful = [...views.values()].flatMap((view) => (view?.isStateful === true ? [view.id] : []));
    const states = await readStates(db, tenantId, stateful);
    const parts = { standing, states, views, seedKey: this.#parts.seedKey };
    return { parts, world: new World({ ...parts, ...NO_KEYS }) };
  }
}

function staleIn(views: Views, standing: Standing): readonly string[] {
  return [...views].filter(([id, view]) => !isCurrent(view, standing.pools.get(id))).map(([id]) => id);
}
