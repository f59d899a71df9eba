/**
 * Records a history, to be replayed for ever.
 *
 *   npx tsx test/histories/record.ts NAME RUN_ID "what happened"   a run of the database at DATABASE_URL
 *   npx tsx test/histories/record.ts --scenarios                   those of scenarios.ts that are not recorded yet
 *
 * Values of a real run are recorded as they are: use runs without data of people.
 */
import pg from 'pg';
import type { JournalRow } from '../../engine/src/workflow/journal/index.js';
import { RUN_ID } from '../../engine/src/workflow/testing/drive.js';
import { historyNames, writeHistory } from './history-file.js';
import { SCENARIOS, TENANT_ID } from './scenarios.js';

interface StoredRow {
  readonly tenant_id: string;
  readonly seq: number;
  readonly at: string;
  readonly entries: Buffer;
}

async function rowsOfRun(runId: string): Promise<{ readonly tenantId: string; readonly rows: readonly JournalRow[] }> {
  const client = new pg.Client({ connectionString: process.env['DATABASE_URL'] });
  await client.connect();
  try {
    const { rows } = await client.query<StoredRow>(
      'select tenant_id, seq, at::text as at, entries from ductor.run_journal where run_id = $1 order by seq',
      [runId],
    );
    const journal = rows.map(({ seq, at, entries }) => ({ seq, atUs: Number(at), entries }));
    return { tenantId: rows[0]?.tenant_id ?? '', rows: journal };
  } finally {
    await client.end();
  }
}

const [name, runId, about] = process.argv.slice(2);
if (name === '--scenarios') {
  const known = historyNames();
  for (const scenario of SCENARIOS.filter((one) => !known.includes(one.name))) {
    const { rows } = scenario.play();
    console.log(writeHistory(scenario.name, { about: scenario.about, tenantId: TENANT_ID, runId: RUN_ID, rows }));
  }
} else if (name === undefined || runId === undefined || about === undefined) {
  console.error('usage: npx tsx test/histories/record.ts NAME RUN_ID "what happened", with DATABASE_URL set');
  process.exitCode = 2;
} else {
  const { tenantId, rows } = await rowsOfRun(runId);
  if (rows.length === 0) {
    console.error(`no journal of run ${runId} at DATABASE_URL`);
    process.exitCode = 1;
  } else console.log(writeHistory(name, { about, tenantId, runId, rows }));
}
