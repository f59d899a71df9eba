/**
 * A process that starts an embedded PostgreSQL and writes to it, for tests that kill it. Run with tsx:
 *
 *     embedded-child.ts start|write DATA_DIR [NATIVE_FOLDER]
 *
 * Prints one JSON line when the server is up, and in `write` one line "acked N" for each committed row.
 */
import { openDatabase } from '../connect/index.js';
import { startEmbeddedPostgres } from '../embedded/index.js';

const [mode, dataDir = '', nativeFolder] = process.argv.slice(2);
const log = (line: string): void => void process.stderr.write(`${line}\n`);
const server = await startEmbeddedPostgres({ dataDir, log, ...(nativeFolder === undefined ? {} : { nativeFolder }) });
const say = (line: string): void => void process.stdout.write(`${line}\n`);
say(JSON.stringify({ url: server.url, pid: server.pid, adopted: server.adopted, uid: process.getuid?.() ?? -1 }));

if (mode === 'write') {
  const db = openDatabase({ url: server.url, maxConnections: 4 });
  await db.query('create table if not exists written (n int primary key)');
  const { rows } = await db.query<{ n: number }>('select coalesce(max(n), 0) as n from written');
  let next = rows[0]?.n ?? 0;
  const write = async (): Promise<never> => {
    for (;;) {
      const n = (next += 1);
      await db.query('insert into written values ($1)', [n]);
      say(`acked ${n}`);
    }
  };
  await Promise.all([write(), write(), write(), write()]);
}
