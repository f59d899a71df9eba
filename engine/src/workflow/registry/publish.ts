/**
 * Publishing: content becomes an immutable version, once.
 *
 * Invariants:
 * 1. Versions of one workflow are numbered 1, 2, 3 without a gap: its row is locked while one is made.
 * 2. Equal content (by digest) has one version, whoever publishes it, however often, through whatever node.
 * 3. current_version moves exactly when content is new.
 */
import type { Queryable } from '../../store/index.js';
import { definitionDigest, printDefinition, type Definition } from '../definition/index.js';
import type { Published, WorkflowRecord } from './records.js';
import { findVersionByDigest } from './sql/find-version-by-digest.js';
import { insertVersion } from './sql/insert-version.js';
import { setCurrentVersion } from './sql/set-current-version.js';

/** A definition with its digest. */
export interface Content {
  readonly definition: Definition;
  /** Hex. */
  readonly digest: string;
}

/** The content of a validated definition. */
export function contentOf(definition: Definition): Content {
  return { definition, digest: definitionDigest(definition) };
}

/** Version of known content; undefined when it is new. */
export async function findPublished(db: Queryable, tenantId: string, content: Content): Promise<Published | undefined> {
  const digest = Buffer.from(content.digest, 'hex');
  const version = await findVersionByDigest(db, tenantId, content.definition.family_slug, digest);
  return version === undefined ? undefined : { version, digest: content.digest, isNew: false };
}

/** Publishes validated content of a workflow whose row the transaction has locked. */
export async function publishContent(
  tx: Queryable,
  tenantId: string,
  locked: WorkflowRecord,
  content: Content,
): Promise<{ readonly published: Published; readonly record: WorkflowRecord }> {
  const known = await findPublished(tx, tenantId, content);
  if (known !== undefined) return { published: known, record: locked };
  const version = await insertVersion(tx, {
    tenantId,
    workflowId: locked.id,
    digest: Buffer.from(content.digest, 'hex'),
    definition: Buffer.from(printDefinition(content.definition), 'utf8'),
  });
  const title = content.definition.title ?? '';
  const record = await setCurrentVersion(tx, tenantId, locked.id, version, title);
  return { published: { version, digest: content.digest, isNew: true }, record };
}
