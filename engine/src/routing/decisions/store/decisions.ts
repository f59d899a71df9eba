/** The decisions of tenants: read, explained, and made again from their records. */
import { DuctorError } from '../../../kernel/index.js';
import type { TenantAccess } from '../../../store/index.js';
import { explain, type Explanation } from '../explain.js';
import { createRecordReader } from '../read-input.js';
import { replay, type Replay } from '../replay.js';
import {
  listDecisions,
  readDecisions,
  readRecordOf,
  recipientNames,
  type DecisionQuery,
} from './sql/read-decisions.js';
import type { StoredDecision } from './stored-decision.js';

/** A record as text, with the documents that it names as text. */
export interface StoredRecord {
  readonly record: string;
  /** By digest; JSON. */
  readonly documents: ReadonlyMap<string, string>;
}

/** The decisions. Ids of other tenants answer not_found, as those of no decision do. */
export interface Decisions {
  /** Throws not_found. */
  get(tenantId: string, decisionId: string): Promise<StoredDecision>;
  /** Latest first. */
  list(tenantId: string, query: DecisionQuery): Promise<readonly StoredDecision[]>;
  /** The record as it was written. Throws not_found. */
  record(tenantId: string, decisionId: string): Promise<StoredRecord>;
  /** Makes the decision again from its record. Throws not_found. */
  replay(tenantId: string, decisionId: string): Promise<Replay & { readonly recorded: string }>;
  /** Explains it from its record; recipients have the names of today. Throws not_found. */
  explain(tenantId: string, decisionId: string): Promise<Explanation>;
}

function unknown(decisionId: string): DuctorError {
  return new DuctorError('not_found', `there is no decision ${decisionId}`);
}

/** Recipients that an explanation names. */
function namedIn({ hops }: Explanation): readonly string[] {
  const ids = hops.flatMap(({ dropped, ranking }) => [
    ...dropped.flatMap(({ recipients }) => recipients.map(({ id }) => id)),
    ...ranking.map(({ id }) => id),
  ]);
  return [...new Set(ids)];
}

/** The explanation with these names, where it has none: a record keeps names only where an expression reads them. */
function withNames(explanation: Explanation, names: ReadonlyMap<string, string>): Explanation {
  const named = <Each extends { readonly id: string; readonly name: string }>(each: Each): Each =>
    each.name === '' ? { ...each, name: names.get(each.id) ?? '' } : each;
  return {
    ...explanation,
    hops: explanation.hops.map((hop) => ({
      ...hop,
      dropped: hop.dropped.map((each) => ({ ...each, recipients: each.recipients.map(named) })),
      ranking: hop.ranking.map(named),
    })),
  };
}

/** The decisions in this database. */
export function createDecisions(db: TenantAccess): Decisions {
  const record = async (tenantId: string, decisionId: string): Promise<StoredRecord> => {
    const found = await readRecordOf(db.asTenant(tenantId), tenantId, decisionId);
    if (found === undefined) throw unknown(decisionId);
    return found;
  };
  const again = async (tenantId: string, decisionId: string): Promise<Replay & { readonly recorded: string }> => {
    const stored = await record(tenantId, decisionId);
    const documents = new Map(
      [...stored.documents].map(([digest, text]): [string, unknown] => [digest, JSON.parse(text)]),
    );
    return { ...replay(stored.record, documents, createRecordReader()), recorded: stored.record };
  };
  return {
    record,
    replay: again,
    async get(tenantId, decisionId) {
      const found = (await readDecisions(db.asTenant(tenantId), tenantId, [decisionId])).get(decisionId);
      if (found === undefined) throw unknown(decisionId);
      return found;
    },
    list: (tenantId, query) => listDecisions(db.asTenant(tenantId), tenantId, query),
    async explain(tenantId, decisionId) {
      const explanation = explain((await again(tenantId, decisionId)).decision);
      return withNames(explanation, await recipientNames(db.asTenant(tenantId), tenantId, namedIn(explanation)));
    },
  };
}
