import { prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';
import type { Family, Reservation } from '../reservation.js';

/** Columns of a reservation `v`. */
const RESERVATION_COLUMNS = `v.tenant_id, v.root_id, v.chain_id, v.run_id, v.path, v.pool_id, v.recipient_id,
  encode(v.digest, 'hex') as digest, v.place, v.units, v.pinned, v.admitted_at, v.day`;

/** A row of them. */
interface ReservationRow extends Row {
  readonly tenant_id: string;
  readonly root_id: string;
  readonly chain_id: string;
  readonly run_id: string;
  readonly path: string;
  readonly pool_id: string;
  readonly recipient_id: string;
  readonly digest: string;
  readonly place: number;
  readonly units: number;
  readonly pinned: number;
  readonly admitted_at: number;
  readonly day: number;
}

const READ = prepared(
  'capacity_read_reservations',
  `select ${RESERVATION_COLUMNS} from ductor.capacity_reservation v
    join unnest($1::uuid[], $2::uuid[]) as t (tenant_id, root_id)
      on v.tenant_id = t.tenant_id and v.root_id = t.root_id`,
);

/** The reservation that a row holds. */
function toReservation(row: ReservationRow): Reservation {
  return {
    ...{ tenantId: row.tenant_id, rootId: row.root_id, chainId: row.chain_id, runId: row.run_id, path: row.path },
    ...{ poolId: row.pool_id, recipientId: row.recipient_id, digest: row.digest, place: row.place },
    ...{ units: row.units, pinned: row.pinned, admittedAtUs: row.admitted_at, day: row.day },
  };
}

/** What families hold. Under their locks, call it after the statement that took them. */
export async function readReservations(db: Queryable, families: readonly Family[]): Promise<readonly Reservation[]> {
  if (families.length === 0) return [];
  const { rows } = await db.query<ReservationRow>(READ, [
    uuidArray(families.map(({ tenantId }) => tenantId)),
    uuidArray(families.map(({ rootId }) => rootId)),
  ]);
  return rows.map(toReservation);
}
