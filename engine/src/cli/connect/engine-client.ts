/** The calls of a command to an engine: generated clients on one channel, with key, deadline and readable errors. */
import {
  type CallOptions,
  type ChannelCredentials,
  type ClientReadableStream,
  credentials,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { AssignmentServiceClient } from '../../gen/ductor/v1/assignment.js';
import { BundleServiceClient } from '../../gen/ductor/v1/bundle.js';
import { ClaimServiceClient } from '../../gen/ductor/v1/claim.js';
import { EndpointServiceClient } from '../../gen/ductor/v1/endpoint.js';
import { PoolServiceClient } from '../../gen/ductor/v1/pool.js';
import { RecipientServiceClient } from '../../gen/ductor/v1/recipient.js';
import { RoutingServiceClient } from '../../gen/ductor/v1/routing.js';
import { RuleServiceClient } from '../../gen/ductor/v1/rule.js';
import { RunServiceClient } from '../../gen/ductor/v1/run.js';
import { ScheduleServiceClient } from '../../gen/ductor/v1/schedule.js';
import { TenancyServiceClient } from '../../gen/ductor/v1/tenancy.js';
import { WorkflowServiceClient } from '../../gen/ductor/v1/workflow.js';
import type { Clock } from '../../kernel/index.js';
import { callError } from './call-error.js';
import type { Endpoint } from './endpoint.js';

/** What is passed on to a method of a generated client, behind the request. */
export type CallRest<Response> = [
  Metadata,
  Partial<CallOptions>,
  (error: ServiceError | null, response: Response) => void,
];

const DEADLINE_MS = 15_000;
const CHANNEL_OPTIONS = { 'grpc.max_receive_message_length': 16 * 1024 * 1024 };

/** An engine that is called. Close it, or the process stays. */
export class EngineClient {
  readonly assignments: AssignmentServiceClient;
  readonly bundles: BundleServiceClient;
  readonly claims: ClaimServiceClient;
  readonly endpoints: EndpointServiceClient;
  readonly pools: PoolServiceClient;
  readonly recipients: RecipientServiceClient;
  readonly routing: RoutingServiceClient;
  readonly rules: RuleServiceClient;
  readonly runs: RunServiceClient;
  readonly schedules: ScheduleServiceClient;
  readonly tenancy: TenancyServiceClient;
  readonly workflows: WorkflowServiceClient;
  readonly #metadata = new Metadata();

  constructor(
    readonly endpoint: Endpoint,
    readonly clock: Clock,
  ) {
    const security: ChannelCredentials = endpoint.isSecure ? credentials.createSsl() : credentials.createInsecure();
    this.assignments = new AssignmentServiceClient(endpoint.address, security, CHANNEL_OPTIONS);
    this.bundles = new BundleServiceClient(endpoint.address, security, CHANNEL_OPTIONS);
    this.claims = new ClaimServiceClient(endpoint.address, security, CHANNEL_OPTIONS);
    this.endpoints = new EndpointServiceClient(endpoint.address, security, CHANNEL_OPTIONS);
    this.pools = new PoolServiceClient(endpoint.address, security, CHANNEL_OPTIONS);
    this.recipients = new RecipientServiceClient(endpoint.address, security, CHANNEL_OPTIONS);
    this.routing = new RoutingServiceClient(endpoint.address, security, CHANNEL_OPTIONS);
    this.rules = new RuleServiceClient(endpoint.address, security, CHANNEL_OPTIONS);
    this.runs = new RunServiceClient(endpoint.address, security, CHANNEL_OPTIONS);
    this.schedules = new ScheduleServiceClient(endpoint.address, security, CHANNEL_OPTIONS);
    this.tenancy = new TenancyServiceClient(endpoint.address, security, CHANNEL_OPTIONS);
    this.workflows = new WorkflowServiceClient(endpoint.address, security, CHANNEL_OPTIONS);
    this.#metadata.set('authorization', `Bearer ${endpoint.apiKey}`);
  }

  /**
   * One call: `ask((...rest) => engine.runs.getRun({ runId }, ...rest))`. Throws what the engine said, or
   * engine_unreachable, deadline_exceeded.
   */
  ask<Response>(call: (...rest: CallRest<Response>) => unknown): Promise<Response> {
    const deadline = this.clock.nowUs() / 1_000 + DEADLINE_MS;
    return new Promise((resolve, reject) => {
      call(this.#metadata, { deadline }, (error, response) => {
        if (error === null) resolve(response);
        else reject(callError(error, this.endpoint));
      });
    });
  }

  /** The messages of a stream, until it ends. Throws like ask. Leaving the loop ends the call. */
  async *follow<Response>(
    open: (metadata: Metadata) => ClientReadableStream<Response>,
  ): AsyncGenerator<Response, void, undefined> {
    const stream = open(this.#metadata);
    try {
      const messages: AsyncIterable<Response> = stream;
      for await (const message of messages) yield message;
    } catch (error) {
      throw isServiceError(error) ? callError(error, this.endpoint) : error;
    } finally {
      stream.on('error', () => undefined);
      stream.cancel();
    }
  }

  close(): void {
    this.assignments.close();
    this.bundles.close();
    this.claims.close();
    this.endpoints.close();
    this.pools.close();
    this.recipients.close();
    this.routing.close();
    this.rules.close();
    this.runs.close();
    this.schedules.close();
    this.tenancy.close();
    this.workflows.close();
  }
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && 'metadata' in error;
}
