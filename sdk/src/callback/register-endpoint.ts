/** Tells the engine of an app that it calls: where it is, and what it serves. */
import { EndpointForm, EndpointServiceClient, RegisterEndpointRequest } from '../gen/ductor/v1/endpoint.js';
import type { RegisterEndpointResponse } from '../gen/ductor/v1/endpoint.js';
import { CHANNEL_OPTIONS, channelTarget, type ConnectionOptions, resolveConnection } from '../connection/connection.js';
import { present, unary } from '../client/unary.js';
import { DuctorError } from '../errors.js';
import type { AppStrategy } from '../strategy/define-strategy.js';
import type { AnyWorkflow } from '../workflow/define-workflow.js';
import { definitionMessage } from '../worker/definition-message.js';

/** An endpoint to register. */
export interface EndpointOptions extends ConnectionOptions {
  /** Names it in the tenant; an endpoint of this name is changed. */
  readonly name: string;
  /** http: expressCallback answers there; grpc: serveCallbacks does. */
  readonly form: 'http' | 'grpc';
  /** Where the engine calls it: https, or http within networks that the engine allows. */
  readonly url: string;
  /** Whom calls name as meant for. Default: the URL. */
  readonly audience?: string;
  /**
   * Workflows whose steps it runs; definitions that are new are published. With neither these nor strategies what it
   * serves stays as it is.
   */
  readonly workflows?: readonly AnyWorkflow[];
  /** Routing strategies that it answers for. */
  readonly strategies?: readonly AppStrategy[];
  /** Queues it serves. Default ["default"]. */
  readonly queues?: readonly string[];
  /** Attempts that it is called for at once, 1 to 10,000. Default 50. */
  readonly concurrency?: number;
  /** Longest time of a call, such as "30s", at most "24h". Default "30s". */
  readonly timeout?: string;
  /** Take only tasks of exactly the versions declared here. Default false. */
  readonly pin?: boolean;
}

/** An endpoint that the engine knows. */
export interface RegisteredEndpoint {
  readonly id: string;
  /** Keys to verify its calls with, for `signingKey`. */
  readonly signingKeys: readonly string[];
}

const FORMS = { http: EndpointForm.ENDPOINT_FORM_HTTP, grpc: EndpointForm.ENDPOINT_FORM_GRPC } as const;

/**
 * Registers it, publishing only what changed. For the start of an app, or its deployment.
 *
 * Throws DuctorError: what the engine says, invalid_definition when it refused one of the workflows.
 */
export async function registerEndpoint(options: EndpointOptions): Promise<RegisteredEndpoint> {
  const connection = resolveConnection(options);
  const target = channelTarget(connection.addresses);
  const client = new EndpointServiceClient(target, connection.credentials, CHANNEL_OPTIONS);
  const { name, url, audience = '', concurrency = 0, timeout = '', queues = [], pin = false } = options;
  const { workflows = [], strategies = [] } = options;
  const request = RegisterEndpointRequest.fromPartial({
    ...{ name, url, audience, concurrency, timeout, queues: [...queues], form: FORMS[options.form] },
    workflows: workflows.map((workflow) => ({
      definition: definitionMessage(workflow.definition),
      handlers: [...workflow.handlers.keys()],
      pin,
    })),
    strategies: strategies.map(({ name: strategy, version }) => ({ name: strategy, version })),
  });
  try {
    const answer = await unary<RegisterEndpointResponse>((done) =>
      client.registerEndpoint(request, connection.metadata, done),
    );
    const refused = answer.registrations.find(({ problems }) => problems.length > 0);
    if (refused !== undefined) {
      const message = `the engine refused the definition of ${refused.familySlug}`;
      throw new DuctorError('invalid_definition', message, { details: refused.problems });
    }
    const { id, signingKeys } = present(answer.data);
    return { id, signingKeys };
  } finally {
    client.close();
  }
}
