/** The stored workflows of all tenants: drafts, versions, and the plans they become. */
import type { CelCompiler } from '../../expressions/index.js';
import { type Clock, DuctorError, isUuid, type Problem } from '../../kernel/index.js';
import type { Queryable, TenantAccess } from '../../store/index.js';
import { insertAudit, type Deed } from '../../tenancy/index.js';
import type { PlanSource } from '../coordinator/ports.js';
import { isFamilySlug, validateDefinition, type Definition } from '../definition/index.js';
import { currentVersions, versionSettled } from './current-versions.js';
import { compareVersions, promoteVersion, type WorkflowDiff } from './compare.js';
import { checkDraft } from './draft.js';
import { createPlanSource, type PlanSourceOptions } from './plan-source.js';
import { withPinnedLimits } from './pinned-limits.js';
import { contentOf, findPublished, publishContent, type Content } from './publish.js';
import type { Published, WorkflowRecord, WorkflowVersionRecord } from './records.js';
import { findWorkflow, lockWorkflow } from './sql/find-workflow.js';
import { insertWorkflow } from './sql/insert-workflow.js';
import { listVersions } from './sql/list-versions.js';
import { listWorkflows } from './sql/list-workflows.js';
import { updateDraft } from './sql/update-draft.js';
import type { WorkflowKey } from './sql/workflow-row.js';

/** What a registry is made of. */
export interface WorkflowRegistryOptions extends PlanSourceOptions {
  readonly db: TenantAccess;
  readonly cel: CelCompiler;
  readonly clock: Clock;
  /** Ids of new workflows: UUIDs. */
  readonly newId: () => string;
}

/**
 * Definitions of a tenant's workflows. `idOrSlug` is the id of a workflow or its family_slug. `by` is whose deed a
 * change is: it stands in the audit trail with it; null (default) where no caller asked. Every call may throw
 * database_unavailable; a publish whose answer was lost may be repeated, it is idempotent by content.
 */
export interface WorkflowRegistry {
  /** Makes a workflow with a draft, which may be incomplete. Throws workflow_exists, invalid_definition. */
  create(tenantId: string, draft: Definition, by?: Deed | null): Promise<WorkflowRecord>;
  /** Throws not_found. */
  get(tenantId: string, idOrSlug: string): Promise<WorkflowRecord>;
  /** By slug, those after `afterSlug` (empty: from the first), at most `limit`. */
  list(tenantId: string, afterSlug: string, limit: number): Promise<readonly WorkflowRecord[]>;
  /** Replaces the draft; the slug stays. Throws not_found, invalid_definition. */
  updateDraft(tenantId: string, idOrSlug: string, draft: Definition, by?: Deed | null): Promise<WorkflowRecord>;
  /** Everything that is wrong with a definition; empty when it can be published. */
  validate(definition: unknown): readonly Problem[];
  /**
   * Makes the draft an immutable version. Content that was published before answers its version and moves nothing.
   *
   * @param expectedVersion recordVersion that the caller read; 0: whatever it is
   * @throws not_found, invalid_definition with all problems, version_conflict naming the current one
   */
  publish(
    tenantId: string,
    idOrSlug: string,
    expectedVersion: number,
    by?: Deed | null,
  ): Promise<WorkflowRecord & { readonly published: Published }>;
  /**
   * What changes from a version (0: the current one, or nothing where there is none) to another (0: the draft).
   * Throws not_found.
   */
  diff(tenantId: string, idOrSlug: string, fromVersion: number, toVersion: number): Promise<WorkflowDiff>;
  /**
   * Makes a published version the current one: later triggers without a version run it. Nothing changes when it is so
   * already. Runs go on with the version they were started with.
   *
   * @param expectedVersion recordVersion that the caller read; 0: whatever it is
   * @throws not_found, version_conflict naming the current one
   */
  promote(
    tenantId: string,
    idOrSlug: string,
    version: number,
    expectedVersion: number,
    by?: Deed | null,
  ): Promise<WorkflowRecord>;
  /** Newest first, those before `beforeVersion` (0: from the newest), at most `limit`. Throws not_found. */
  versions(
    tenantId: string,
    idOrSlug: string,
    beforeVersion: number,
    limit: number,
  ): Promise<readonly WorkflowVersionRecord[]>;
  /**
   * Publishes a worker's definition where its content is new, making the workflow if there is none; known content
   * changes nothing. Throws invalid_definition.
   */
  register(tenantId: string, definition: unknown, by?: Deed | null): Promise<Published>;
  /** Version that a trigger without one runs, as of now. Throws not_found, workflow_not_published, limit_exceeded. */
  currentVersion(tenantId: string, familySlug: string): Promise<number>;
  /** Plans of published versions. */
  readonly planSource: PlanSource;
}

function notFound(idOrSlug: string): never {
  throw new DuctorError('not_found', `there is no workflow ${JSON.stringify(idOrSlug.slice(0, 200))}`);
}

/** No slug is a UUID, so a text names a workflow in one way only. */
function keyOf(tenantId: string, idOrSlug: string): WorkflowKey {
  if (isUuid(idOrSlug)) return { tenantId, workflowId: idOrSlug, familySlug: null };
  return isFamilySlug(idOrSlug) ? { tenantId, workflowId: null, familySlug: idOrSlug } : notFound(idOrSlug);
}

/** The content, once it is sure that it can run. Throws invalid_definition with everything that is wrong. */
function validContent(json: unknown, what: string, cel: CelCompiler): Content {
  const { definition, problems } = validateDefinition(json, cel);
  if (definition !== undefined) return contentOf(definition);
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  throw new DuctorError('invalid_definition', `${what} has ${count}`, { details: problems });
}

/** The content with the limits of the pools that it names. */
async function pinned(db: Queryable, tenantId: string, { definition }: Content): Promise<Content> {
  return contentOf(await withPinnedLimits(db, tenantId, definition));
}

/** As the author wrote it: a draft may hold what validation refuses. */
function draftBytes(draft: Definition): Buffer {
  return Buffer.from(JSON.stringify(draft), 'utf8');
}

type Get = WorkflowRegistry['get'];

/** Writes whose deed a change of a workflow was. */
async function audit(tx: Queryable, by: Deed | null, tenantId: string, workflowId: string): Promise<void> {
  if (by === null) return;
  await insertAudit(tx, [{ ...by, tenantId, objectKind: 'workflow', objectId: workflowId, outcome: 'ok' }]);
}

function createDrafts(
  { db, newId }: WorkflowRegistryOptions,
  get: Get,
): Pick<WorkflowRegistry, 'create' | 'updateDraft'> {
  return {
    async create(tenantId, draft, by = null) {
      checkDraft(draft);
      const { family_slug: familySlug, title = '' } = draft;
      return db.asTenant(tenantId).transaction(async (tx) => {
        const workflow = { tenantId, workflowId: newId(), familySlug, title, draft: draftBytes(draft) };
        const made = await insertWorkflow(tx, workflow);
        if (made === undefined) {
          throw new DuctorError('workflow_exists', `there is a workflow ${JSON.stringify(familySlug)} already`);
        }
        await audit(tx, by, tenantId, made.id);
        return made;
      });
    },
    async updateDraft(tenantId, idOrSlug, draft, by = null) {
      const { id, familySlug } = await get(tenantId, idOrSlug);
      checkDraft(draft, familySlug);
      return db.asTenant(tenantId).transaction(async (tx) => {
        const updated = await updateDraft(tx, tenantId, id, draft.title ?? '', draftBytes(draft));
        await audit(tx, by, tenantId, id);
        return updated ?? notFound(idOrSlug);
      });
    },
  };
}

/** The workflow, locked. Throws not_found, version_conflict. */
async function lockExpected(
  tx: Queryable,
  tenantId: string,
  idOrSlug: string,
  expectedVersion: number,
): Promise<WorkflowRecord> {
  const locked = (await lockWorkflow(tx, keyOf(tenantId, idOrSlug))) ?? notFound(idOrSlug);
  if (expectedVersion === 0 || expectedVersion === locked.recordVersion) return locked;
  const message = `${locked.familySlug} has record_version ${locked.recordVersion}, not ${expectedVersion}`;
  throw new DuctorError('version_conflict', message);
}

/** What a transaction on a workflow's row found and left. */
interface Moved<T> {
  readonly before: WorkflowRecord;
  readonly after: number;
  readonly answer: T;
}

/** The answer, once every node's triggers run the version that is current now. The first publish replaces none. */
async function settled<T>(clock: Clock, moving: Promise<Moved<T>>): Promise<T> {
  const { before, after, answer } = await moving;
  if (before.currentVersion > 0 && before.currentVersion !== after) await versionSettled(clock);
  return answer;
}

function createPublishing({
  db,
  cel,
  clock,
  newId,
}: WorkflowRegistryOptions): Pick<WorkflowRegistry, 'publish' | 'promote' | 'register'> {
  return {
    promote(tenantId, idOrSlug, version, expectedVersion, by = null) {
      const moving = db.asTenant(tenantId).transaction(async (tx) => {
        const locked = await lockExpected(tx, tenantId, idOrSlug, expectedVersion);
        await audit(tx, by, tenantId, locked.id);
        const answer = await promoteVersion(tx, tenantId, locked, version);
        return { before: locked, after: answer.currentVersion, answer };
      });
      return settled(clock, moving);
    },
    publish(tenantId, idOrSlug, expectedVersion, by = null) {
      const moving = db.asTenant(tenantId).transaction(async (tx) => {
        const locked = await lockExpected(tx, tenantId, idOrSlug, expectedVersion);
        if (locked.draft === null) {
          const remedy = 'Update its draft first; its versions come from workers, which publish by themselves.';
          throw new DuctorError('invalid_definition', `${locked.familySlug} has no draft`, { remedy });
        }
        const valid = validContent(locked.draft, `the draft of ${locked.familySlug}`, cel);
        const content = await pinned(tx, tenantId, valid);
        const { published, record } = await publishContent(tx, tenantId, locked, content);
        await audit(tx, by, tenantId, locked.id);
        return { before: locked, after: record.currentVersion, answer: { ...record, published } };
      });
      return settled(clock, moving);
    },
    async register(tenantId, definition, by = null) {
      const content = await pinned(db.asTenant(tenantId), tenantId, validContent(definition, 'the definition', cel));
      const known = await findPublished(db.asTenant(tenantId), tenantId, content);
      if (known !== undefined) return known;
      const { family_slug: familySlug, title = '' } = content.definition;
      const moving = db.asTenant(tenantId).transaction(async (tx) => {
        await insertWorkflow(tx, { tenantId, workflowId: newId(), familySlug, title, draft: null });
        const key = { tenantId, workflowId: null, familySlug };
        const locked = (await lockWorkflow(tx, key)) ?? notFound(familySlug);
        const { published, record } = await publishContent(tx, tenantId, locked, content);
        if (published.isNew) await audit(tx, by, tenantId, locked.id);
        return { before: locked, after: record.currentVersion, answer: published };
      });
      return settled(clock, moving);
    },
  };
}

/** A registry over a database. */
export function createWorkflowRegistry(options: WorkflowRegistryOptions): WorkflowRegistry {
  const { db, cel, clock } = options;
  const lookup = currentVersions(db, clock);
  const get: Get = async (tenantId, idOrSlug) =>
    (await findWorkflow(db.asTenant(tenantId), keyOf(tenantId, idOrSlug))) ?? notFound(idOrSlug);
  return {
    get,
    list: (tenantId, afterSlug, limit) => listWorkflows(db.asTenant(tenantId), tenantId, afterSlug, limit),
    validate: (definition) => validateDefinition(definition, cel).problems,
    async versions(tenantId, idOrSlug, beforeVersion, limit) {
      const { id } = await get(tenantId, idOrSlug);
      return listVersions(db.asTenant(tenantId), tenantId, id, beforeVersion, limit);
    },
    async diff(tenantId, idOrSlug, fromVersion, toVersion) {
      const workflow = await get(tenantId, idOrSlug);
      return compareVersions(db.asTenant(tenantId), tenantId, workflow, fromVersion, toVersion);
    },
    async currentVersion(tenantId, familySlug) {
      const version = isFamilySlug(familySlug) ? await lookup(tenantId, familySlug) : undefined;
      if (version === undefined) return notFound(familySlug);
      if (version > 0) return version;
      throw new DuctorError('workflow_not_published', `${familySlug} has no published version`);
    },
    planSource: createPlanSource(db, cel, lookup, options),
    ...createDrafts(options, get),
    ...createPublishing(options),
  };
}
