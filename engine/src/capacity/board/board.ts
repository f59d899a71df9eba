/** The board: who has which capacity at one moment. */
import type { TenantAccess } from '../../store/index.js';
import type { BoardLine } from './board-line.js';
import { readBoard, type BoardQuery } from './sql/read-board.js';

/** The board. */
export interface CapacityBoard {
  /**
   * Lines by the ids of pool and recipient, all as they were at one moment. Throws capacity_authority_unavailable when
   * nothing is counted for a recipient.
   */
  list(tenantId: string, query: BoardQuery): Promise<readonly BoardLine[]>;
}

/** The board of this database. */
export function createBoard(db: TenantAccess): CapacityBoard {
  return { list: (tenantId, query) => readBoard(db.asTenant(tenantId), tenantId, query) };
}
