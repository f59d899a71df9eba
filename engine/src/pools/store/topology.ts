/**
 * All pools and recipients of a tenant at once, for those who compare and change them as a whole.
 *
 * Invariants:
 * 1. A statement for each kind of change, never one for each object.
 * 2. Locks are taken as everywhere: recipients, then pools, each kind in the order of ids.
 * 3. What is written was locked before, and its record_version compared: nobody's change is lost.
 */
import { DuctorError } from '../../kernel/index.js';
import type { Queryable } from '../../store/index.js';
import type { PoolFields } from '../objects/pool.js';
import type { RecipientFields } from '../objects/recipient.js';
import type { CapacityAuthority } from '../ports.js';
import { deletePools } from './sql/delete-pools.js';
import { deleteRecipients } from './sql/delete-recipients.js';
import { keepPools } from './sql/keep-pools.js';
import { allPools, lockPoolVersions } from './sql/read-pools.js';
import { allRecipients, lockRecipientVersions } from './sql/read-recipients.js';
import { insertPools, updatePools } from './sql/write-many-pools.js';
import { insertRecipients, putManyMemberships, updateRecipients } from './sql/write-many-recipients.js';

/** An object as it is stored. */
export interface StoredObject<Fields> {
  readonly id: string;
  readonly version: number;
  readonly fields: Fields;
}

/** Pools by name, recipients by id. */
export interface Topology {
  readonly pools: readonly StoredObject<PoolFields>[];
  readonly recipients: readonly StoredObject<RecipientFields>[];
}

/** Changes of objects of one kind. */
export interface ObjectChanges<Fields> {
  readonly created: readonly { readonly id: string; readonly fields: Fields }[];
  /** With the version that is changed. */
  readonly updated: readonly StoredObject<Fields>[];
  /** With the version that is deleted. */
  readonly deleted: readonly { readonly id: string; readonly version: number; readonly fields: Fields }[];
}

/** Changes of a topology. */
export interface TopologyChanges {
  readonly pools: ObjectChanges<PoolFields>;
  readonly recipients: ObjectChanges<RecipientFields>;
}

/**
 * What there is, of each kind at most so many.
 *
 * @throws limit_exceeded when there is more
 */
export async function readTopology(db: Queryable, tenantId: string, limit: number): Promise<Topology> {
  const pools = await allPools(db, tenantId, limit + 1);
  const recipients = await allRecipients(db, tenantId, limit + 1);
  if (pools.length > limit || recipients.length > limit) {
    throw new DuctorError('limit_exceeded', `the tenant has more than ${limit} pools or recipients`);
  }
  return {
    pools: pools.map(({ poolId: id, recordVersion: version, fields }) => ({ id, version, fields })),
    recipients: recipients.map(({ recipientId: id, recordVersion: version, fields }) => ({ id, version, fields })),
  };
}

/** Whether each object that is to change still has the version it was read with. */
export function areSame<Fields>(
  { updated, deleted }: ObjectChanges<Fields>,
  versions: ReadonlyMap<string, number>,
): boolean {
  return [...updated, ...deleted].every(({ id, version }) => versions.get(id) === version);
}

/** Ids of the objects that are to change. */
export function idsOf<Fields>({ updated, deleted }: ObjectChanges<Fields>): readonly string[] {
  return [...updated, ...deleted].map(({ id }) => id);
}

/** Locks the recipients that are to change; false when one of them is another by now. */
export async function lockRecipients(tx: Queryable, tenantId: string, changes: TopologyChanges): Promise<boolean> {
  const { recipients } = changes;
  return areSame(recipients, await lockRecipientVersions(tx, tenantId, idsOf(recipients)));
}

/**
 * Locks the pools that are to change, and keeps those that are referred to; false when one of them is another by now,
 * or gone. Recipients, and whatever else is locked before pools, are locked by then.
 */
export async function lockPools(
  tx: Queryable,
  tenantId: string,
  { pools }: TopologyChanges,
  referred: readonly string[],
): Promise<boolean> {
  if (!areSame(pools, await lockPoolVersions(tx, tenantId, idsOf(pools)))) return false;
  const made = new Set(pools.created.map(({ id }) => id));
  const known = referred.filter((id) => !made.has(id));
  return (await keepPools(tx, tenantId, known)).length === 0;
}

/**
 * Writes changes whose objects are locked. Throws recipient_in_use, and what the database throws for names that are
 * taken.
 */
export async function writeTopology(
  tx: Queryable,
  tenantId: string,
  { pools, recipients }: TopologyChanges,
  capacity: CapacityAuthority,
): Promise<void> {
  await closeRecipients(tx, tenantId, recipients.deleted, capacity);
  await insertPools(tx, tenantId, pools.created);
  await updatePools(tx, tenantId, pools.updated);
  await insertRecipients(tx, tenantId, recipients.created);
  await updateRecipients(tx, tenantId, recipients.updated);
  await putManyMemberships(tx, tenantId, [...recipients.created, ...recipients.updated]);
  await capacity.open(
    tx,
    tenantId,
    recipients.created.map(({ id }) => id),
  );
  await deletePools(
    tx,
    tenantId,
    pools.deleted.map(({ id }) => id),
  );
}

async function closeRecipients(
  tx: Queryable,
  tenantId: string,
  deleted: TopologyChanges['recipients']['deleted'],
  capacity: CapacityAuthority,
): Promise<void> {
  if (deleted.length === 0) return;
  const ids = deleted.map(({ id }) => id);
  const closed = new Set(await capacity.close(tx, tenantId, ids));
  const busy = deleted.find(({ id }) => !closed.has(id));
  if (busy !== undefined) {
    throw new DuctorError('recipient_in_use', `recipient ${busy.fields.name} has work, and the bundle is without it`);
  }
  await deleteRecipients(tx, tenantId, ids);
}
