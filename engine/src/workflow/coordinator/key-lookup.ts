/**
 * Answers starts whose idempotency key another run holds: the same input gets that run, another input an error, and a
 * key that is free after all (its holder's commit was rolled back, or it expired) lets the start begin again.
 */
import { DuctorError, sleep } from '../../kernel/index.js';
import { backoffMs } from './backoff.js';
import type { ExistingStart } from './ports.js';
import type { PendingStart } from './run-cell.js';
import type { World } from './world.js';

/** Most keys one statement asks for. */
const PAGE = 500;

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && a.every((byte, index) => byte === b[index]);
}

/** Answers a start whose run key an open chain holds. */
function answerOpen({ request, resolve, reject }: PendingStart, { runId, version }: ExistingStart): void {
  if (request.onOpen !== 'refuse') return resolve({ runId, version, existing: true });
  const key = JSON.stringify(request.runKey);
  const message = `run key ${key} of ${request.familySlug} is held by run ${runId}, which is open`;
  reject(new DuctorError('run_key_taken', message));
}

/** The lookups of one incarnation; many starts share a statement. */
export class KeyLookup {
  #waiting: PendingStart[] = [];
  #isBusy = false;

  /**
   * @param again begins a start once more
   * @param ended told of each start that was answered
   */
  constructor(
    readonly world: World,
    readonly again: (start: PendingStart) => void,
    readonly ended: (start: PendingStart) => void,
  ) {}

  add(start: PendingStart): void {
    this.#waiting.push(start);
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.world.clock.defer(() => void this.#run());
  }

  /** Answers whoever waits: the incarnation is over. */
  end(error: DuctorError): void {
    for (const start of this.#waiting.splice(0)) {
      this.ended(start);
      start.reject(error);
    }
  }

  async #run(): Promise<void> {
    for (let tries = 0; this.#waiting.length > 0 && !this.world.isEnded(); tries += 1) {
      const page = this.#waiting.splice(0, PAGE);
      try {
        await this.#answer(page);
        tries = 0;
      } catch (error) {
        this.world.hooks.log('warn', 'looking up idempotency keys failed, trying again', { error });
        this.#waiting = [...page, ...this.#waiting];
        await sleep(this.world.clock, backoffMs(tries));
      }
    }
    this.#isBusy = false;
    if (this.world.isEnded()) this.end(new DuctorError('node_fenced', 'this node lost its lease; try again'));
  }

  async #answer(page: readonly PendingStart[]): Promise<void> {
    const keys = page.map(({ request }) => ({
      tenantId: request.tenantId,
      familySlug: request.familySlug,
      key: request.startKey?.key ?? '',
    }));
    const found = await this.world.runs.findStarts(keys);
    for (const [index, start] of page.entries()) this.#answerOne(start, found[index]);
  }

  #answerOne(start: PendingStart, existing: ExistingStart | undefined): void {
    const { startKey } = start.request;
    if (existing === undefined || startKey === null) return this.again(start);
    this.ended(start);
    if (startKey.untilEnd === true) return answerOpen(start, existing);
    if (isSame(existing.fingerprint, startKey.fingerprint)) {
      start.resolve({ runId: existing.runId, version: existing.version, existing: true });
      return;
    }
    const key = JSON.stringify(startKey.key);
    const message = `idempotency key ${key} was used with another input by run ${existing.runId}`;
    start.reject(new DuctorError('idempotency_conflict', message));
  }
}
