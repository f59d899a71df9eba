/**
 * The recipients of tenants, and which pools they belong to.
 *
 * Invariants:
 * 1. What was changed stands in the audit trail when, and only when, it was: both are one transaction.
 * 2. record_version counts each change, under a lock of the row; a guard compares under the same lock.
 * 3. A recipient belongs to its primary pool, and the capacity authority counts for it, from its first moment on.
 * 4. Pools are locked in the order of their ids, after the recipient.
 */
import { DuctorError } from '../../kernel/index.js';
import type { Queryable, TenantAccess } from '../../store/index.js';
import { deedOf, insertAudit } from '../../tenancy/index.js';
import { recipientCheck, stateAfter, type RecipientFields } from '../objects/recipient.js';
import { withPrimary } from '../objects/with-primary.js';
import type { CapacityAuthority, RecipientCounters } from '../ports.js';
import type { Caller } from './pools.js';
import type { Recipient } from './recipient.js';
import { deleteRecipients } from './sql/delete-recipients.js';
import { insertRecipient } from './sql/insert-recipient.js';
import { putMemberships } from './sql/put-memberships.js';
import { findPool } from './sql/read-pools.js';
import { findRecipient, listRecipients, lockRecipient, type MemberQuery } from './sql/read-recipients.js';
import { updateRecipient } from './sql/update-recipient.js';
import { unlessTaken } from './unique.js';
import { checkVersion } from './version.js';

/** A recipient with what is counted for it. */
export interface CountedRecipient {
  readonly recipient: Recipient;
  readonly counters: RecipientCounters;
}

/** The recipients. Ids of other tenants answer not_found, as those of no recipient do. */
export interface Recipients {
  /** Creates one in a pool. Throws invalid_argument, not_found, recipient_exists. */
  create(caller: Caller, poolId: string, input: unknown): Promise<CountedRecipient>;
  /** Throws not_found. */
  get(tenantId: string, recipientId: string): Promise<CountedRecipient>;
  /** Members of a pool, by id. Throws not_found. */
  list(tenantId: string, query: MemberQuery): Promise<readonly CountedRecipient[]>;
  /**
   * Changes what the patch names (RFC 7396); another pool_id moves it there. Throws invalid_argument, not_found,
   * recipient_exists, version_conflict.
   *
   * @param expectedVersion record_version that the caller read; 0: whatever it is
   */
  update(caller: Caller, recipientId: string, patch: unknown, expectedVersion: number): Promise<CountedRecipient>;
  /** Removes it; returns what it was. Throws not_found, version_conflict, recipient_in_use. */
  remove(caller: Caller, recipientId: string, expectedVersion: number): Promise<CountedRecipient>;
  /** Takes it out of rotation, or puts it back. Throws not_found, recipient_not_paused. */
  move(caller: Caller, recipientId: string, verb: 'pause' | 'resume', reason: string): Promise<CountedRecipient>;
}

/** What it needs. */
export interface RecipientsOptions {
  readonly db: TenantAccess;
  readonly newId: () => string;
  readonly capacity: CapacityAuthority;
  /** Told after the members of pools changed. */
  readonly onChange: (tenantId: string, poolIds: readonly string[]) => void;
}

function unknown(recipientId: string): DuctorError {
  return new DuctorError('not_found', `there is no recipient ${recipientId}`);
}

async function audit(tx: Queryable, { by, method }: Caller, objectId: string, reason = ''): Promise<void> {
  const deed = deedOf(by, method, reason);
  await insertAudit(tx, [{ ...deed, tenantId: by.tenantId, objectKind: 'recipient', objectId, outcome: 'ok' }]);
}

function poolsOf({ memberships }: RecipientFields): readonly string[] {
  return memberships.map(({ pool_id }) => pool_id);
}

async function join(tx: Queryable, tenantId: string, recipientId: string, fields: RecipientFields): Promise<void> {
  const [missing] = await putMemberships(tx, tenantId, recipientId, fields.memberships);
  if (missing !== undefined) throw new DuctorError('not_found', `there is no pool ${missing}`);
}

function taken(fields: RecipientFields): string {
  return `there is a recipient with external_id ${JSON.stringify(fields.external_id)} already`;
}

/** Answers recipients with what is counted for them. Throws capacity_authority_unavailable when that is missing. */
class Counting {
  constructor(readonly capacity: CapacityAuthority) {}

  async all(db: Queryable, recipients: readonly Recipient[]): Promise<CountedRecipient[]> {
    const [first] = recipients;
    if (first === undefined) return [];
    const ids = recipients.map(({ recipientId }) => recipientId);
    const counters = await this.capacity.read(db, first.tenantId, ids);
    return recipients.map((recipient) => {
      const found = counters.get(recipient.recipientId);
      if (found !== undefined) return { recipient, counters: found };
      const message = `nothing is counted for recipient ${recipient.recipientId}`;
      throw new DuctorError('capacity_authority_unavailable', message);
    });
  }

  /** Throws not_found besides. */
  async one(db: Queryable, tenantId: string, recipientId: string): Promise<CountedRecipient> {
    const found = await findRecipient(db, tenantId, recipientId);
    const [answer] = await this.all(db, found === undefined ? [] : [found]);
    if (answer === undefined) throw unknown(recipientId);
    return answer;
  }
}

/** Who changed, and the pools it belonged to or belongs to. */
interface Change {
  readonly answer: CountedRecipient;
  readonly pools: readonly string[];
}

/** A change within its transaction. */
class Changing {
  constructor(
    readonly tx: Queryable,
    readonly caller: Caller,
    readonly counting: Counting,
  ) {}

  /** The recipient, locked. Throws not_found, version_conflict. */
  async locked(recipientId: string, expectedVersion: number): Promise<Recipient> {
    const was = await lockRecipient(this.tx, this.caller.by.tenantId, recipientId);
    if (was === undefined) throw unknown(recipientId);
    checkVersion(`recipient ${was.fields.name}`, was.recordVersion, expectedVersion);
    return was;
  }

  /** Puts new fields in the place of those of a locked recipient. Throws recipient_exists, not_found. */
  async put(was: Recipient, fields: RecipientFields, reason = ''): Promise<Change> {
    const { tenantId, recipientId } = was;
    const updated = updateRecipient(this.tx, tenantId, recipientId, fields);
    await unlessTaken(updated, 'recipient_exists', taken(fields));
    await join(this.tx, tenantId, recipientId, fields);
    await audit(this.tx, this.caller, recipientId, reason);
    const answer = await this.counting.one(this.tx, tenantId, recipientId);
    return { answer, pools: [...poolsOf(was.fields), ...poolsOf(fields)] };
  }

  /** Throws recipient_exists, not_found. */
  async add(recipientId: string, fields: RecipientFields): Promise<Change> {
    const { tx, caller, counting } = this;
    const { tenantId } = caller.by;
    if (!(await insertRecipient(tx, tenantId, recipientId, fields))) {
      throw new DuctorError('recipient_exists', taken(fields));
    }
    await join(tx, tenantId, recipientId, fields);
    await counting.capacity.open(tx, tenantId, [recipientId]);
    await audit(tx, caller, recipientId);
    return { answer: await counting.one(tx, tenantId, recipientId), pools: poolsOf(fields) };
  }

  /** Throws not_found, version_conflict, recipient_in_use. */
  async remove(recipientId: string, expectedVersion: number): Promise<Change> {
    const { tx, caller, counting } = this;
    const { tenantId } = caller.by;
    const { fields } = await this.locked(recipientId, expectedVersion);
    const answer = await counting.one(tx, tenantId, recipientId);
    const closed = await counting.capacity.close(tx, tenantId, [recipientId]);
    if (closed.length === 0) {
      const { committed, held } = answer.counters;
      const message = `recipient ${fields.name} has work: ${committed} units committed, ${held} reserved`;
      throw new DuctorError('recipient_in_use', message);
    }
    await deleteRecipients(tx, tenantId, [recipientId]);
    await audit(tx, caller, recipientId);
    return { answer, pools: poolsOf(fields) };
  }

  /** Throws not_found, recipient_not_paused. */
  async move(recipientId: string, verb: 'pause' | 'resume', reason: string): Promise<Change> {
    const was = await this.locked(recipientId, 0);
    const state = stateAfter(was.fields.state, verb);
    if (state === undefined) {
      const message = `recipient ${was.fields.name} is ${was.fields.state}, neither paused nor draining`;
      throw new DuctorError('recipient_not_paused', message);
    }
    const { state_until: _until, ...rest } = was.fields;
    return this.put(was, { ...rest, state, state_reason: reason }, reason);
  }
}

/** The recipients in this database. */
export function createRecipients({ db, newId, capacity, onChange }: RecipientsOptions): Recipients {
  const counting = new Counting(capacity);
  const change = async (caller: Caller, work: (changing: Changing) => Promise<Change>): Promise<CountedRecipient> => {
    const { tenantId } = caller.by;
    const access = db.asTenant(tenantId);
    const { answer, pools } = await access.transaction((tx) => work(new Changing(tx, caller, counting)));
    onChange(tenantId, [...new Set(pools)]);
    return answer;
  };
  return {
    create(caller, poolId, input) {
      const fields = withPrimary({ ...recipientCheck.create(input), pool_id: poolId }, undefined);
      return change(caller, (changing) => changing.add(newId(), fields));
    },
    get: (tenantId, recipientId) => counting.one(db.asTenant(tenantId), tenantId, recipientId),
    async list(tenantId, query) {
      const access = db.asTenant(tenantId);
      if ((await findPool(access, tenantId, query.poolId)) === undefined) {
        throw new DuctorError('not_found', `there is no pool ${query.poolId}`);
      }
      return counting.all(access, await listRecipients(access, tenantId, query));
    },
    update: (caller, recipientId, patch, expectedVersion) =>
      change(caller, async (changing) => {
        const was = await changing.locked(recipientId, expectedVersion);
        return changing.put(was, withPrimary(recipientCheck.update(was.fields, patch), was.fields.pool_id));
      }),
    remove: (caller, recipientId, expectedVersion) =>
      change(caller, (changing) => changing.remove(recipientId, expectedVersion)),
    move: (caller, recipientId, verb, reason) => change(caller, (changing) => changing.move(recipientId, verb, reason)),
  };
}
