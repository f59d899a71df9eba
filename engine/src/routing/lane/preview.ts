/** Previews: what Route would decide now. Nothing is locked, written or granted. */
import { DuctorError } from '../../kernel/index.js';
import type { Decision } from '../pipeline/decision.js';
import { readBindings, readFirsts } from '../standing/sql/known-keys.js';
import { affinityKeysOf, dedupeKeyOf, firstPoolOf, type RouteAsk } from './ask.js';
import type { Asking } from './asking.js';
import type { LaneParts } from './lane-parts.js';
import type { Read, SharedReads } from './shared-reads.js';
import { World } from './world.js';

const MAX_TRIES = 12;

/** See above. */
export class Previews {
  readonly #parts: LaneParts;
  readonly #reads: SharedReads;
  readonly #asking: Asking;

  constructor(parts: LaneParts, reads: SharedReads, asking: Asking) {
    this.#parts = parts;
    this.#reads = reads;
    this.#asking = asking;
  }

  /** Throws database_unavailable. */
  async preview(tenantId: string, ask: RouteAsk): Promise<Decision> {
    const { views, clock, newId } = this.#parts;
    const rules = ask.poolId === undefined ? await views.rules(tenantId) : [];
    const firstPoolId = firstPoolOf(ask, rules, clock.nowUs());
    const reach = new Set(firstPoolId === undefined ? [] : [firstPoolId]);
    const asked = { tenantId, ask, decisionId: newId(), answers: new Map(), spentUs: 0 };
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      await this.#asking.fill(asked, await views.pools(tenantId, reach));
      const read = await this.#reads.read(tenantId, reach);
      const world = await this.#worldFor(tenantId, ask, read, firstPoolId);
      const decision = world.decide({ ...asked, firstPoolId, rules, isGranting: false });
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
}
