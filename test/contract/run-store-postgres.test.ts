/** The stores of Postgres keep the contract. */
import { describeRunStoreContract } from '../../engine/src/workflow/testing/run-store-contract.js';
import { postgresWorld } from '../support/postgres-world.js';

describeRunStoreContract('postgres', () => postgresWorld());
