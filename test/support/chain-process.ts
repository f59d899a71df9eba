/** Workers of the chain workflow as processes. */
import { fileURLToPath } from 'node:url';
import type { Child } from './child.js';
import type { ChainOptions } from './chain.js';
import { startWorker, typescript } from './worker.js';

const SCRIPT = fileURLToPath(new URL('./chain-worker.ts', import.meta.url));

/** Which worker. */
export interface ChainWorkerOptions extends ChainOptions {
  readonly name: string;
  /** Addresses of engines. */
  readonly addresses: readonly string[];
  readonly apiKey: string;
  readonly capacity: number;
  /** Whether it opens streams to nodes that are not among the addresses. Default: true. */
  readonly allNodes?: boolean;
}

/** Starts a worker; resolves when an engine has welcomed it. */
export function startChainWorker(options: ChainWorkerOptions): Promise<Child> {
  return startWorker({
    name: options.name,
    args: typescript(SCRIPT),
    env: {
      DUCTOR_ADDRESS: options.addresses.join(','),
      DUCTOR_API_KEY: options.apiKey,
      CHAIN_SLUG: options.slug,
      CHAIN_STEPS: String(options.steps),
      CHAIN_MARKS: options.marks,
      CHAIN_CAPACITY: String(options.capacity),
      CHAIN_NAME: options.name,
      CHAIN_ALL_NODES: String(options.allNodes ?? true),
    },
  });
}
