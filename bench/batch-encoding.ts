/**
 * What a row of a batch costs Node: text[] against one bytea parameter with offsets. Run:
 *
 *     DATABASE_URL=postgresql://… npx tsx bench/batch-encoding.ts
 *
 * The table is temporary. Prints CPU microseconds of this process a row, the median of seven rounds.
 */
import { BatchBlob, integerArray } from '../engine/src/store/batch/index.js';
import { openDatabase, prepared, type Connection, type Prepared } from '../engine/src/store/connect/index.js';

const ROWS = 200;
const BATCHES = 60;
const ROUNDS = 7;

const BLOB = prepared(
  'bench_blob',
  `insert into batch_bench select i, substring($1::bytea from o + 1 for l)
    from unnest($2::int[], $3::int[], $4::bigint[]) as t (o, l, i)`,
);
const TEXT = prepared(
  'bench_text',
  `insert into batch_bench select i, convert_to(v, 'UTF8') from unnest($1::text[], $2::bigint[]) as t (v, i)`,
);
const BYTEA = prepared(
  'bench_bytea',
  `insert into batch_bench select i, v from unnest($1::bytea[], $2::bigint[]) as t (v, i)`,
);

/** JSON of about so many bytes, with as many quotes as ordinary JSON has. */
function sample(bytes: number, index: number): string {
  const fields: Record<string, string> = {};
  for (let i = 0; JSON.stringify(fields).length < bytes; i += 1) fields[`field_${i}`] = `value ${index} "${i}"`;
  return JSON.stringify(fields);
}

/** Ways to send a batch. */
const WAYS: Readonly<Record<string, (texts: readonly string[], ids: readonly number[]) => [Prepared, unknown[]]>> = {
  'text[]': (texts, ids) => [TEXT, [texts, ids]],
  'bytea[]': (texts, ids) => [BYTEA, [texts.map((text) => Buffer.from(text)), ids]],
  'blob, int[] by node-postgres': (texts, ids) => {
    const blob = new BatchBlob();
    const slices = texts.map((text) => blob.append(Buffer.from(text)));
    return [BLOB, [blob.toBuffer(), slices.map(({ offset }) => offset), slices.map(({ length }) => length), ids]];
  },
  'blob, integerArray': (texts, ids) => {
    const blob = new BatchBlob();
    const slices = texts.map((text) => blob.append(Buffer.from(text)));
    const offsets = integerArray(slices.map(({ offset }) => offset));
    return [BLOB, [blob.toBuffer(), offsets, integerArray(slices.map(({ length }) => length)), integerArray(ids)]];
  },
};

/** CPU microseconds a row of one round. */
async function round(connection: Connection, way: string, bytes: number): Promise<number> {
  const build = WAYS[way] ?? (() => [BLOB, []]);
  const texts = Array.from({ length: ROWS }, (_, i) => sample(bytes, i));
  const ids = texts.map((_, i) => i);
  await connection.query('truncate batch_bench');
  const before = process.cpuUsage();
  for (let i = 0; i < BATCHES; i += 1) await connection.query(...build(texts, ids));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (ROWS * BATCHES);
}

const url = process.env['DATABASE_URL'] ?? 'postgresql://postgres@127.0.0.1:5432/postgres';
const db = openDatabase({ url, applicationName: 'ductor bench' });
const connection = await db.connect({ name: 'batch' });
await connection.query('create temporary table batch_bench (id bigint, data bytea)');
for (const bytes of [300, 3800]) {
  for (const way of Object.keys(WAYS)) {
    const rounds: number[] = [];
    for (let i = 0; i < ROUNDS; i += 1) rounds.push(await round(connection, way, bytes));
    rounds.sort((a, b) => a - b);
    console.log(`${bytes} B  ${way}: ${(rounds[Math.floor(ROUNDS / 2)] ?? 0).toFixed(2)} us a row`);
  }
}
await connection.close();
await db.close();
