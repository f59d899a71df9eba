/** Looks at a database and judges what it sees. Reads only. */
import type { Clock } from '../../kernel/index.js';
import {
  checkTenantWall,
  type Database,
  explainCall,
  readInvalidIndexes,
  readMigrationState,
  readServerReport,
  readTableReport,
} from '../../store/index.js';
import {
  findCapacityDefects,
  HOT_STATEMENTS,
  readClusterReport,
  readPartitionReport,
  readStuckRuns,
} from '../../workflow/index.js';
import type { Finding } from './finding.js';
import { judgeCapacity } from './judge-capacity.js';
import { judgeCluster, judgeRuns } from './judge-runs.js';
import { examineNodes } from './examine-nodes.js';
import {
  type ExplainedStatement,
  judgeInvalidIndexes,
  judgeMigrations,
  judgePartitions,
  judgePlans,
  judgeTables,
  judgeTenantWall,
} from './judge-schema.js';
import { judgeServerReport } from './judge-server.js';

async function explained(db: Database): Promise<readonly ExplainedStatement[]> {
  const statements: ExplainedStatement[] = [];
  for (const { name, indexes, isOfLane, send } of HOT_STATEMENTS) {
    const possible = await explainCall(db, send, true);
    statements.push({ name, indexes, isOfLane, possible, usual: await explainCall(db, send, false) });
  }
  return statements;
}

/**
 * Everything there is to find.
 *
 * @param clock this machine's, not yet taught the database's time
 * @throws database_unavailable
 */
export async function examineDatabase(db: Database, clock: Clock): Promise<readonly Finding[]> {
  const findings = [...judgeServerReport(await readServerReport(db, clock))];
  const migrations = await readMigrationState(db);
  findings.push(judgeMigrations(migrations));
  // A schema that is not there, or older than this engine's statements, has nothing more to tell.
  if (migrations === null || migrations.pending.length > 0) return findings;
  findings.push(judgeTenantWall(await checkTenantWall(db)));
  const tables = await readTableReport(db);
  findings.push(...judgeTables(tables), judgeInvalidIndexes(await readInvalidIndexes(db)));
  findings.push(judgePartitions(await readPartitionReport(db)), ...judgePlans(await explained(db), tables));
  const cluster = await readClusterReport(db);
  findings.push(...judgeCluster(cluster), ...judgeRuns(await readStuckRuns(db, cluster.ownerlessShards)));
  findings.push(...(await examineNodes(cluster)));
  findings.push(...judgeCapacity(await findCapacityDefects(db)));
  return findings;
}
