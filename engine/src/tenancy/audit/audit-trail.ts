/**
 * Audit rows of what has no transaction of its own: refused calls, repetitions. Many go with one insert, off the path
 * of the call. (What changes something has its row in the commit of the change.)
 *
 *   idle -> gathering (for FLUSH_MS) -> writing -> gathering | idle
 * Invariants:
 * 1. One insert is under way at a time, with at most BATCH rows.
 * 2. At most MAX_WAITING rows wait. More are dropped and counted: a flood of refused calls must not fill the memory.
 * 3. Rows whose insert failed are tried again, in order.
 */
import { DuctorError, sleep, type Clock, type Timer } from '../../kernel/index.js';
import type { Queryable } from '../../store/index.js';
import type { AuditEntry } from './deed.js';
import { insertAudit } from './sql/insert-audit.js';

/** Takes rows. */
export interface AuditTrail {
  /** Adds a row soon. Never throws. */
  note(entry: AuditEntry): void;
  /** Writes what waits; resolves when all of it is in, or cannot be for now. */
  flush(): Promise<void>;
}

/** Parts of a trail. */
export interface AuditTrailOptions {
  readonly db: Queryable;
  readonly clock: Clock;
  /** Told when an insert failed, and when rows were dropped. */
  readonly onError: (error: unknown) => void;
}

const FLUSH_MS = 50;
const RETRY_MS = 1_000;
const BATCH = 1_000;
const MAX_WAITING = 20_000;
const MAX_TEXT_CHARS = 1_024;

/** A text of a caller as a row can hold it: short, without NUL and halves of surrogate pairs. */
function storable(text: string): string {
  const short = text.length > MAX_TEXT_CHARS ? `${text.slice(0, MAX_TEXT_CHARS)}…` : text;
  return short.replaceAll(/\0|\p{Surrogate}/gu, '\ufffd');
}

/** A trail into this database. */
export function auditTrail({ db, clock, onError }: AuditTrailOptions): AuditTrail {
  let waiting: AuditEntry[] = [];
  let timer: Timer | null = null;
  let writing: Promise<void> | null = null;
  let dropped = 0;

  /** Whether everything that waited is in. */
  const writeAll = async (): Promise<boolean> => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      try {
        await insertAudit(db, batch);
      } catch (error) {
        onError(error);
        return false;
      }
      waiting = waiting.slice(batch.length);
    }
    if (dropped > 0) onError(new DuctorError('limit_exceeded', `${dropped} audit rows were dropped`));
    dropped = 0;
    return true;
  };
  const turn = async (): Promise<void> => {
    if (!(await writeAll())) await sleep(clock, RETRY_MS);
    writing = null;
    if (waiting.length > 0) arm();
  };
  const start = (): void => {
    timer?.cancel();
    timer = null;
    writing ??= turn();
  };
  const arm = (): void => {
    if (timer === null && writing === null) timer = clock.setTimer(FLUSH_MS, start);
  };
  return {
    note(entry) {
      if (waiting.length >= MAX_WAITING) {
        dropped += 1;
        return;
      }
      const { actor, method, objectId, reason } = entry;
      waiting.push({
        ...entry,
        ...{ actor: storable(actor), method: storable(method), objectId: storable(objectId), reason: storable(reason) },
      });
      arm();
    },
    async flush() {
      timer?.cancel();
      timer = null;
      // What is under way may wait for its next try: an own try tells sooner.
      if (writing === null) await writeAll();
      else await Promise.race([writing, sleep(clock, RETRY_MS / 2)]);
    },
  };
}
