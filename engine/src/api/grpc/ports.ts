/** What the API needs from the rooms below it. */
import type { Definition } from '../../workflow/definition/definition.js';
import type { Problem } from '../../kernel/index.js';

export type { Coordinator, RunChange, StartOutcome } from '../../workflow/coordinator/coordinator.js';
export type { Bus, PlanSource, RunHeader, RunKey, StoredRun } from '../../workflow/coordinator/ports.js';
export type {
  Definition,
  EdgeDefinition,
  Json,
  RetryDefinition,
  StepDefinition,
} from '../../workflow/definition/definition.js';
export type { RunCursor, RunPage, RunQuery, RunReader } from '../../workflow/store-postgres/run-reader.js';
export { historyOf, loadRun, type HistoryItem } from '../../workflow/journal/index.js';
export {
  explainStep,
  isClosed,
  jsonValue,
  MAX_VALUE_BYTES,
  NULL_VALUE,
  runOutput,
  type Plan,
  type RunFailure,
  type RunState,
  type RunStatus,
  type StepState,
  type StepStatus,
  type Value,
} from '../../workflow/machine/index.js';

/** A workflow as the registry keeps it. */
export interface WorkflowRecord {
  readonly id: string;
  readonly familySlug: string;
  readonly title: string;
  /** 0 before the first publish. */
  readonly currentVersion: number;
  /** null: nothing was drafted, it came from a worker. */
  readonly draft: Definition | null;
  /** Raised by each change of the record. */
  readonly recordVersion: number;
  readonly createdAtUs: number;
  readonly updatedAtUs: number;
}

/** A published version. */
export interface WorkflowVersionRecord {
  readonly version: number;
  /** SHA-256 of the canonical definition, hex. */
  readonly digest: string;
  readonly definition: Definition;
  readonly publishedAtUs: number;
}

/** Definitions of a tenant's workflows. `idOrSlug` is the id of a workflow or its family_slug. */
export interface WorkflowCatalog {
  /** Throws workflow_exists, invalid_definition. */
  create(tenantId: string, definition: Definition): Promise<WorkflowRecord>;
  /** Throws not_found. */
  get(tenantId: string, idOrSlug: string): Promise<WorkflowRecord>;
  /** By slug, those after `afterSlug` (empty: from the first), at most `limit`. */
  list(tenantId: string, afterSlug: string, limit: number): Promise<readonly WorkflowRecord[]>;
  /** Replaces the draft. Throws not_found, invalid_definition. */
  updateDraft(tenantId: string, idOrSlug: string, definition: Definition): Promise<WorkflowRecord>;
  /** Everything that is wrong with a definition. */
  validate(definition: Definition): readonly Problem[];
  /** Makes the draft a version. `expectedVersion` 0: whatever it is. Throws not_found, invalid_definition, version_conflict. */
  publish(tenantId: string, idOrSlug: string, expectedVersion: number): Promise<WorkflowRecord>;
  /** Newest first, those before `beforeVersion` (0: from the newest), at most `limit`. Throws not_found. */
  versions(
    tenantId: string,
    idOrSlug: string,
    beforeVersion: number,
    limit: number,
  ): Promise<readonly WorkflowVersionRecord[]>;
  /** Version that a trigger without version runs. Throws not_found, workflow_not_published. */
  currentVersion(tenantId: string, familySlug: string): Promise<number>;
}
