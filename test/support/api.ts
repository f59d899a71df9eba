/** The engine's gRPC services as promises, for tests that speak the contract and not the SDK's client. */
import { type ServiceError, credentials, Metadata } from '@grpc/grpc-js';
import {
  type CancelRunResponse,
  type GetRunHistoryResponse,
  type GetRunResponse,
  type HistoryItem,
  type Run,
  RunServiceClient,
  TriggerRunRequest,
  type TriggerRunResponse,
} from '../../sdk/src/gen/ductor/v1/run.js';
import {
  CreateWorkflowRequest,
  type CreateWorkflowResponse,
  type PublishWorkflowResponse,
  type Workflow,
  WorkflowServiceClient,
} from '../../sdk/src/gen/ductor/v1/workflow.js';
import { definitionMessage } from '../../sdk/src/worker/definition-message.js';
import type { DefinitionJson } from '../../sdk/src/workflow/definition-json.js';

const DEADLINE_MS = 10_000;

/** Calls of one key at one engine. */
export class Api {
  readonly #workflows: WorkflowServiceClient;
  readonly #runs: RunServiceClient;
  readonly #metadata = new Metadata();

  constructor(engine: { readonly address: string; readonly apiKey: string }) {
    this.#workflows = new WorkflowServiceClient(engine.address, credentials.createInsecure());
    this.#runs = new RunServiceClient(engine.address, credentials.createInsecure());
    this.#metadata.set('authorization', `Bearer ${engine.apiKey}`);
  }

  /** Creates a workflow from plain JSON with the contract's field names. */
  async createWorkflow(definition: DefinitionJson): Promise<Workflow> {
    const request = CreateWorkflowRequest.fromPartial(definitionMessage(definition));
    const { data } = await this.#call<CreateWorkflowResponse>((done) =>
      this.#workflows.createWorkflow(request, this.#metadata, deadline(), done),
    );
    return given(data);
  }

  async publishWorkflow(workflowId: string): Promise<Workflow> {
    const { data } = await this.#call<PublishWorkflowResponse>((done) =>
      this.#workflows.publishWorkflow({ workflowId, expectedVersion: 0 }, this.#metadata, deadline(), done),
    );
    return given(data);
  }

  async triggerRun(familySlug: string, input: unknown = {}): Promise<Run> {
    const request = TriggerRunRequest.fromPartial({ familySlug, input });
    const { data } = await this.#call<TriggerRunResponse>((done) =>
      this.#runs.triggerRun(request, this.#metadata, deadline(), done),
    );
    return given(data);
  }

  async getRun(runId: string): Promise<Run> {
    const { data } = await this.#call<GetRunResponse>((done) =>
      this.#runs.getRun({ runId }, this.#metadata, deadline(), done),
    );
    return given(data);
  }

  async cancelRun(runId: string, reason: string): Promise<Run> {
    const { data } = await this.#call<CancelRunResponse>((done) =>
      this.#runs.cancelRun({ runId, reason }, this.#metadata, deadline(), done),
    );
    return given(data);
  }

  /** The first 200 facts of a run. */
  async history(runId: string): Promise<readonly HistoryItem[]> {
    const pagination = { pageSize: 200, cursor: '', nextCursor: '' };
    const { data } = await this.#call<GetRunHistoryResponse>((done) =>
      this.#runs.getRunHistory({ runId, pagination }, this.#metadata, deadline(), done),
    );
    return data;
  }

  close(): void {
    this.#workflows.close();
    this.#runs.close();
  }

  #call<T>(call: (done: (error: ServiceError | null, response: T) => void) => unknown): Promise<T> {
    return new Promise((resolve, reject) => {
      call((error, response) => (error === null ? resolve(response) : reject(error)));
    });
  }
}

function deadline(): { deadline: number } {
  return { deadline: Date.now() + DEADLINE_MS };
}

function given<T>(data: T | undefined): T {
  if (data === undefined) throw new Error('the answer holds nothing');
  return data;
}

/** Microseconds since 1970 of a history item. */
export function itemUs(item: HistoryItem): number {
  return Number(item.at?.seconds ?? 0n) * 1_000_000 + Math.floor((item.at?.nanos ?? 0) / 1_000);
}
