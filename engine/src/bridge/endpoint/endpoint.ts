/** An endpoint: an app that the engine calls to have its steps run. */
import { DuctorError, type Problem } from '../../kernel/index.js';
import type { StrategyRegistration } from '../../gen/ductor/v1/strategy.js';
import { MAX_NAME_CHARS, MAX_QUEUES, MAX_SLOTS } from '../limits.js';
import type { WorkflowCapability } from '../queue/capability.js';
import { countProblem, nameProblems } from '../wire/check-hello.js';

/** How it is called. */
export type EndpointForm = 'http' | 'grpc';

/** What an endpoint is said to be. */
export interface EndpointSpec {
  /** Unique in the tenant; also what its keys are derived from, with the tenant. */
  readonly name: string;
  readonly form: EndpointForm;
  readonly url: string;
  /** What calls name as whom they are meant for. */
  readonly audience: string;
  readonly queues: readonly string[];
  /** Attempts out with it at once, over all nodes. */
  readonly concurrency: number;
  /** Longest time of a call. */
  readonly timeoutMs: number;
}

/** An endpoint as it is stored. */
export interface Endpoint extends EndpointSpec {
  readonly tenantId: string;
  readonly endpointId: string;
  readonly workflows: readonly WorkflowCapability[];
  readonly strategies: readonly StrategyRegistration[];
  /** Counts changes. */
  readonly revision: number;
  readonly createdAtUs: number;
  readonly updatedAtUs: number;
}

/** Endpoints that a tenant may have. */
export const MAX_ENDPOINTS = 100;
/** Concurrency of an endpoint that says none. */
export const ENDPOINT_CONCURRENCY = 50;
/** Timeout of an endpoint that says none. */
export const ENDPOINT_TIMEOUT_MS = 30_000;
const MAX_TIMEOUT_MS = 86_400_000;
const MAX_AUDIENCE_CHARS = 512;
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

function urlProblem({ form, url }: EndpointSpec): Problem[] {
  const isWhole = form === 'http' || (URL.canParse(url) && new URL(url).pathname === '/');
  if (isWhole) return [];
  return [
    { path: 'url', value: url.slice(0, 200), problem: 'has a path', remedy: 'a gRPC endpoint has host and port' },
  ];
}

/** Throws invalid_argument with everything that is wrong, but for the URL's address. */
export function checkEndpoint(spec: EndpointSpec): void {
  const { name, audience, queues, concurrency, timeoutMs } = spec;
  const problems = [
    ...urlProblem(spec),
    ...countProblem('audience', audience.length, 1, MAX_AUDIENCE_CHARS),
    ...countProblem('queues', queues.length, 1, MAX_QUEUES),
    ...nameProblems('queues', queues),
    ...countProblem('concurrency', concurrency, 1, MAX_SLOTS),
    ...countProblem('timeout', timeoutMs, 1, MAX_TIMEOUT_MS),
  ];
  if (!NAME.test(name)) {
    const problem = 'is no name of 1 to 63 letters, digits, points, hyphens and underscores';
    problems.push({ path: 'name', value: name.slice(0, MAX_NAME_CHARS), problem, remedy: 'give it another name' });
  }
  const [first] = problems;
  if (first === undefined) return;
  throw new DuctorError('invalid_argument', `${first.path}: ${first.problem}`, { details: problems });
}
