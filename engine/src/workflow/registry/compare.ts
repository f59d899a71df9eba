/** Versions compared with one another and with the draft, and made current by hand. */
import { DuctorError } from '../../kernel/index.js';
import type { Queryable } from '../../store/index.js';
import { diffDefinitions, type Definition, type DefinitionChange } from '../definition/index.js';
import { storedDefinition, type WorkflowRecord } from './records.js';
import { loadDefinition } from './sql/load-definition.js';
import { setCurrentVersion } from './sql/set-current-version.js';

/** What changes from one version to another. */
export interface WorkflowDiff {
  /** 0: nothing was published yet. */
  readonly fromVersion: number;
  /** 0: the draft. */
  readonly toVersion: number;
  /** Empty: they mean the same. */
  readonly changes: readonly DefinitionChange[];
}

/** The definition of a version. Throws not_found. */
async function versionOf(db: Queryable, tenantId: string, familySlug: string, version: number): Promise<Definition> {
  const bytes = await loadDefinition(db, tenantId, familySlug, version);
  if (bytes !== undefined) return storedDefinition(bytes);
  const remedy = `ListWorkflowVersions, or \`ductor workflow show ${familySlug}\`, tells which there are.`;
  throw new DuctorError('not_found', `${familySlug} has no version ${version}`, { remedy });
}

function draftOf({ draft, familySlug }: WorkflowRecord): Definition {
  if (draft !== null) return draft;
  const remedy = 'Its versions come from workers: compare two versions.';
  throw new DuctorError('not_found', `${familySlug} has no draft`, { remedy });
}

/**
 * Compares.
 *
 * @param fromVersion 0: the current one, or nothing where there is none
 * @param toVersion 0: the draft
 * @throws not_found
 */
export async function compareVersions(
  db: Queryable,
  tenantId: string,
  workflow: WorkflowRecord,
  fromVersion: number,
  toVersion: number,
): Promise<WorkflowDiff> {
  const from = fromVersion === 0 ? workflow.currentVersion : fromVersion;
  const before = from === 0 ? null : await versionOf(db, tenantId, workflow.familySlug, from);
  const after = toVersion === 0 ? draftOf(workflow) : await versionOf(db, tenantId, workflow.familySlug, toVersion);
  return { fromVersion: from, toVersion, changes: diffDefinitions(before, after) };
}

/** Makes a published version the current one of a workflow whose row the transaction has locked. Throws not_found. */
export async function promoteVersion(
  tx: Queryable,
  tenantId: string,
  locked: WorkflowRecord,
  version: number,
): Promise<WorkflowRecord> {
  const { title = '' } = await versionOf(tx, tenantId, locked.familySlug, version);
  if (version === locked.currentVersion) return locked;
  return setCurrentVersion(tx, tenantId, locked.id, version, title);
}
