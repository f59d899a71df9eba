/** Removes a run's databases from a server that outlives the run (DUCTOR_TEST_DATABASE_URL). */
import pg from 'pg';

/** Prefix of the names of a run's databases, from the process id of the run. */
export function runPrefix(runId: string): string {
  return `ductor_test_${runId.replaceAll(/[^0-9a-z]/g, '_')}`;
}

/** Drops every database of the run, its template too. */
export async function dropRunDatabases(url: string, prefix: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'test maintenance' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      'select datname as name from pg_database where starts_with(datname, $1)',
      [`${prefix}_`],
    );
    for (const { name } of rows) {
      await client.query(`alter database ${client.escapeIdentifier(name)} with is_template false`);
      await client.query(`drop database if exists ${client.escapeIdentifier(name)} with (force)`);
    }
  } finally {
    await client.end();
  }
}
