/** Finds the definition of a version. */
import type {
  GetWorkflowResponse,
  ListWorkflowVersionsResponse,
  Workflow,
  WorkflowVersion,
} from '../../gen/ductor/v1/workflow.js';
import { DuctorError } from '../../kernel/index.js';
import type { EngineClient } from '../connect/engine-client.js';

const PAGE = 200;

/** The answer's content. Throws internal where a door left it out. */
export function given<T>(data: T | undefined): T {
  if (data === undefined) throw new DuctorError('internal', 'the answer of the engine holds no data');
  return data;
}

/** A workflow by id or slug. Throws not_found. */
export async function findWorkflow(engine: EngineClient, workflowId: string): Promise<Workflow> {
  const { data } = await engine.ask<GetWorkflowResponse>((...rest) =>
    engine.workflows.getWorkflow({ workflowId }, ...rest),
  );
  return given(data);
}

/** A published version. Throws not_found. */
export async function findVersion(engine: EngineClient, workflowId: string, version: number): Promise<WorkflowVersion> {
  for (let cursor = ''; ;) {
    const pagination = { pageSize: PAGE, cursor, nextCursor: '' };
    const page = await engine.ask<ListWorkflowVersionsResponse>((...rest) =>
      engine.workflows.listWorkflowVersions({ workflowId, pagination }, ...rest),
    );
    const found = page.data.find((each) => each.version === version);
    if (found !== undefined) return found;
    cursor = page.pagination?.nextCursor ?? '';
    if (cursor === '') throw new DuctorError('not_found', `${workflowId} has no version ${version}`);
  }
}
