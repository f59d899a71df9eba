/**
 * The claim queues of tenants.
 *
 * Invariants: 1. what was changed stands in the audit trail when, and only when, it was: both are one transaction; 2.
 * record_version counts each change, under a lock of the row; 3. a queue with work in it is not removed: who puts work
 * there keeps it from being removed meanwhile.
 */
import { z } from 'zod';
import {
  deleteQueues,
  findQueue,
  insertQueue,
  listQueues,
  lockQueue,
  queuesWithWork,
  updateQueue,
  type ClaimQueue,
  type ClaimQueueFields,
} from '../../claims/index.js';
import { DuctorError } from '../../kernel/index.js';
import {
  check,
  checkUpdate,
  checkVersion,
  metadataField,
  patternText,
  text,
  unlessTaken,
  type Caller,
  type ObjectCheck,
} from '../../pools/index.js';
import type { Queryable, TenantAccess } from '../../store/index.js';
import { deedOf, insertAudit } from '../../tenancy/index.js';

const schema = z.strictObject({
  name: patternText(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
    'a name of 1 to 128 letters, digits, ".", "_", "-", a letter or digit first',
    'lead-pond',
  ),
  description: text(2048).default(''),
  metadata: metadataField.default({}),
});
const object = { noun: 'claim queue', schema, names: Object.keys(schema.shape) };

/** Checks of claim queues. */
export const queueCheck: ObjectCheck<ClaimQueueFields> = {
  create: (input) => check(object, input),
  update: (current, patch) => checkUpdate(object, current, patch),
};

/** The claim queues. Ids of other tenants answer not_found, as those of no queue do. */
export interface ClaimQueues {
  /** Throws invalid_argument, claim_queue_exists. */
  create(caller: Caller, input: unknown): Promise<ClaimQueue>;
  /** Throws not_found. */
  get(tenantId: string, queueId: string): Promise<ClaimQueue>;
  /** By name. */
  list(tenantId: string, query: { readonly afterName: string; readonly limit: number }): Promise<readonly ClaimQueue[]>;
  /**
   * Changes what the patch names (RFC 7396). Throws what create throws, not_found, version_conflict.
   *
   * @param expectedVersion record_version that the caller read; 0: whatever it is
   */
  update(caller: Caller, queueId: string, patch: unknown, expectedVersion: number): Promise<ClaimQueue>;
  /** Returns what it was. Throws not_found, version_conflict, claim_queue_in_use. */
  remove(caller: Caller, queueId: string, expectedVersion: number): Promise<ClaimQueue>;
}

function unknown(queueId: string): DuctorError {
  return new DuctorError('not_found', `there is no claim queue ${queueId}`);
}

function takenText({ name }: ClaimQueueFields): string {
  return `there is a claim queue ${JSON.stringify(name)} already`;
}

async function audit(tx: Queryable, { by, method }: Caller, objectId: string): Promise<void> {
  const { tenantId } = by;
  await insertAudit(tx, [{ ...deedOf(by, method), tenantId, objectKind: 'claim_queue', objectId, outcome: 'ok' }]);
}

async function locked(tx: Queryable, { by }: Caller, queueId: string, expected: number): Promise<ClaimQueue> {
  const queue = await lockQueue(tx, by.tenantId, queueId);
  if (queue === undefined) throw unknown(queueId);
  checkVersion(`claim queue ${queue.fields.name}`, queue.version, expected);
  return queue;
}

/** The claim queues in this database. */
export function createClaimQueues(db: TenantAccess, newId: () => string): ClaimQueues {
  const change = <T>({ by }: Caller, work: (tx: Queryable) => Promise<T>): Promise<T> =>
    db.asTenant(by.tenantId).transaction(work);
  return {
    create(caller, input) {
      const fields = queueCheck.create(input);
      return change(caller, async (tx) => {
        const queueId = newId();
        const queue = await insertQueue(tx, caller.by.tenantId, queueId, fields);
        if (queue === undefined) throw new DuctorError('claim_queue_exists', takenText(fields));
        await audit(tx, caller, queueId);
        return queue;
      });
    },
    async get(tenantId, queueId) {
      const found = await findQueue(db.asTenant(tenantId), tenantId, queueId);
      if (found === undefined) throw unknown(queueId);
      return found;
    },
    list: (tenantId, query) => listQueues(db.asTenant(tenantId), tenantId, query),
    update: (caller, queueId, patch, expected) =>
      change(caller, async (tx) => {
        const was = await locked(tx, caller, queueId, expected);
        const fields = queueCheck.update(was.fields, patch);
        const written = updateQueue(tx, caller.by.tenantId, queueId, fields);
        const queue = await unlessTaken(written, 'claim_queue_exists', takenText(fields));
        await audit(tx, caller, queueId);
        return queue;
      }),
    remove: (caller, queueId, expected) =>
      change(caller, async (tx) => {
        const was = await locked(tx, caller, queueId, expected);
        if ((await queuesWithWork(tx, caller.by.tenantId, [queueId])).size > 0) {
          throw new DuctorError('claim_queue_in_use', `work waits in claim queue ${was.fields.name}, or is claimed`);
        }
        await deleteQueues(tx, caller.by.tenantId, [queueId]);
        await audit(tx, caller, queueId);
        return was;
      }),
  };
}
