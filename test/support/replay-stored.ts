/** Every decision that a database holds, replayed from its record. */
import { createRecordReader, replay } from '../../engine/src/routing/index.js';
import type { Database } from '../../engine/src/store/index.js';

/** How many there are, and the records that a replay does not write again byte for byte. */
export async function replayStored(
  db: Database,
): Promise<{ readonly count: number; readonly differing: readonly string[] }> {
  const { rows } = await db.query<{ record: Buffer }>('select record from ductor.routing_decision');
  const stored = await db.query<{ digest: string; document: Buffer }>(
    'select digest, document from ductor.routing_document',
  );
  const documents = new Map(
    stored.rows.map(({ digest, document }): [string, unknown] => [digest, JSON.parse(document.toString('utf8'))]),
  );
  const reader = createRecordReader();
  const texts = rows.map(({ record }) => record.toString('utf8'));
  const differing = texts.filter((text) => !replay(text, documents, reader).isSame);
  return { count: texts.length, differing };
}
