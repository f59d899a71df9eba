/**
 * Runs batches, those of calls and those of looks at queues: opens the states of their pools' strategies first, repeats
 * a transaction that the database gave up for another one, and knows what is stored already.
 */
import { classify } from '../../store/index.js';
import { openStates } from '../standing/sql/strategy-states.js';
import type { LaneParts } from './lane-parts.js';
import { runBatch, type Batch, type BatchResult } from './run-batch.js';

/** How often a transaction is repeated. */
const MAX_REPEATS = 3;
/** Documents whose digests are remembered as stored. */
const MAX_STORED = 50_000;

/** See above. One for all who run batches on a node. */
export class BatchRunner {
  readonly #parts: LaneParts;
  readonly #opened = new Set<string>();
  readonly #stored = new Set<string>();

  constructor(parts: LaneParts) {
    this.#parts = parts;
  }

  /** Runs a batch; views that it found old are dropped. Throws what the database throws. */
  async run(batch: Batch): Promise<BatchResult> {
    const { tenantId } = batch;
    await this.#openStates(batch);
    const result = await this.#commit(batch);
    this.#parts.views.drop(tenantId, result.stale);
    if (this.#stored.size > MAX_STORED) this.#stored.clear();
    for (const digest of result.documents) this.#stored.add(`${tenantId}/${digest}`);
    return result;
  }

  async #openStates({ tenantId, views }: Batch): Promise<void> {
    const isNew = (id: string): boolean => !this.#opened.has(`${tenantId}/${id}`);
    const ids = [...views.values()].flatMap((view) => (view?.isStateful === true && isNew(view.id) ? [view.id] : []));
    await openStates(this.#parts.db.asTenant(tenantId), tenantId, ids);
    for (const id of ids) this.#opened.add(`${tenantId}/${id}`);
  }

  async #commit(batch: Batch): Promise<BatchResult> {
    const { tenantId } = batch;
    const isStored = (digest: string): boolean => this.#stored.has(`${tenantId}/${digest}`);
    for (let repeats = 0; ; repeats += 1) {
      try {
        return await this.#parts.db.asTenant(tenantId).transaction((tx) => runBatch(tx, this.#parts, batch, isStored));
      } catch (error) {
        if (classify(error).class !== 'serialization' || repeats >= MAX_REPEATS) throw error;
      }
    }
  }
}
