/** What a worker can do: which tasks may be given to it. */
import type { Task } from '../ports.js';

/** A workflow a worker has handlers for. */
export interface WorkflowCapability {
  readonly familySlug: string;
  readonly handlers: readonly string[];
  /** Only tasks of this version; null: of any. */
  readonly pinnedVersion: number | null;
}

/** All a worker can do, for one tenant. */
export interface Capability {
  readonly tenantId: string;
  readonly queues: readonly string[];
  readonly workflows: readonly WorkflowCapability[];
}

/** The part of a task that decides who may do it. */
export type TaskKind = Pick<Task, 'queue' | 'familySlug' | 'handler' | 'version'>;

/** A capability made ready to be asked. */
export interface CapabilityMatcher {
  /** Equal for equal capabilities. */
  readonly signature: string;
  accepts(kind: TaskKind): boolean;
}

/** Prepares a capability. Of a workflow named twice the last one counts. */
export function capabilityMatcher({ queues, workflows }: Capability): CapabilityMatcher {
  const queueSet = new Set(queues);
  const bySlug = new Map(
    workflows.map(({ familySlug, handlers, pinnedVersion }) => [
      familySlug,
      { handlers: new Set(handlers), pinnedVersion },
    ]),
  );
  const parts = [...bySlug].map(([slug, { handlers, pinnedVersion }]) => [slug, pinnedVersion, [...handlers].sort()]);
  parts.sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));
  return {
    signature: JSON.stringify([[...queueSet].sort(), parts]),
    accepts({ queue, familySlug, handler, version }) {
      const workflow = bySlug.get(familySlug);
      if (workflow === undefined || !queueSet.has(queue) || !workflow.handlers.has(handler)) return false;
      return workflow.pinnedVersion === null || workflow.pinnedVersion === version;
    },
  };
}
