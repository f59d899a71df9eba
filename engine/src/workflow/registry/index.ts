/** The registry: stored workflows, their drafts and immutable versions, and their plans. */
export type { WorkflowDiff } from './compare.js';
export type { Published, WorkflowRecord, WorkflowVersionRecord } from './records.js';
export { createWorkflowRegistry, type WorkflowRegistry, type WorkflowRegistryOptions } from './registry.js';
