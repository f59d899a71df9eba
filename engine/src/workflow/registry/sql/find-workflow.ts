import { prepared, type Queryable } from '../../../store/index.js';
import type { WorkflowRecord } from '../records.js';
import { BY_KEY, keyValues, toRecord, WORKFLOW_COLUMNS, type WorkflowKey, type WorkflowRow } from './workflow-row.js';

const FIND = prepared('registry_find_workflow', `select ${WORKFLOW_COLUMNS} from ductor.workflow where ${BY_KEY}`);
const LOCK = prepared(
  'registry_lock_workflow',
  `select ${WORKFLOW_COLUMNS} from ductor.workflow where ${BY_KEY} for no key update`,
);

/** One workflow; undefined when there is none. */
export async function findWorkflow(db: Queryable, key: WorkflowKey): Promise<WorkflowRecord | undefined> {
  const { rows } = await db.query<WorkflowRow>(FIND, keyValues(key));
  return rows[0] === undefined ? undefined : toRecord(rows[0]);
}

/** The same, locked until the transaction ends: publishes of one workflow go one after the other. */
export async function lockWorkflow(tx: Queryable, key: WorkflowKey): Promise<WorkflowRecord | undefined> {
  const { rows } = await tx.query<WorkflowRow>(LOCK, keyValues(key));
  return rows[0] === undefined ? undefined : toRecord(rows[0]);
}
