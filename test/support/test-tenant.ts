/** Tenants for tests that need no key. */
import { randomBytes } from 'node:crypto';
import { createTenancy } from '../../engine/src/tenancy/index.js';
import { clusterSecret, systemClock, systemRandom } from '../../engine/src/kernel/index.js';
import type { Database } from '../../engine/src/store/index.js';

/** Makes a tenant; its id. */
export function ensureTenant(db: Database): Promise<string> {
  const [clock, random] = [systemClock(), systemRandom()];
  const secret = clusterSecret('a secret for tests, 32 bytes long');
  return createTenancy({ db, clock, random, secret }).ensureTenant(`t-${randomBytes(6).toString('hex')}`);
}
