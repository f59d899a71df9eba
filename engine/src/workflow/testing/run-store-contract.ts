/** The contract of RunStore, InboxStore and ClusterStore: one suite for the real stores and the simulated ones. */
import { describe } from 'vitest';
import { chainContract } from './contract/chain-contract.js';
import { clusterContract } from './contract/cluster-contract.js';
import { crashContract } from './contract/crash-contract.js';
import { commitContract } from './contract/commit-contract.js';
import { fenceContract } from './contract/fence-contract.js';
import { inboxContract } from './contract/inbox-contract.js';
import { listContract } from './contract/list-contract.js';
import { payloadContract } from './contract/payload-contract.js';
import { startKeyContract } from './contract/start-key-contract.js';
import type { MakeWorld } from './contract/world.js';

export type { ContractProcess, ContractWorld, MakeWorld } from './contract/world.js';

/**
 * Declares the suite.
 *
 * @param name of the implementation
 * @param makeWorld makes a fresh database for each test
 */
export function describeRunStoreContract(name: string, makeWorld: MakeWorld): void {
  describe(`run store contract: ${name}`, () => {
    commitContract(makeWorld);
    payloadContract(makeWorld);
    startKeyContract(makeWorld);
    inboxContract(makeWorld);
    chainContract(makeWorld);
    listContract(makeWorld);
    fenceContract(makeWorld);
    clusterContract(makeWorld);
    crashContract(makeWorld);
  });
}
