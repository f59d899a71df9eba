/** An API key on a database that engines with the tests' secret share. */
import { clusterSecret, systemClock, systemRandom } from '../../engine/src/kernel/index.js';
import type { Database } from '../../engine/src/store/index.js';
import { createTenancy } from '../../engine/src/tenancy/index.js';
import { TEST_SECRET } from './engine.js';

/** Makes the development tenant and a key for everything. */
export async function developmentKey(db: Database): Promise<{ readonly tenantId: string; readonly apiKey: string }> {
  const options = { clock: systemClock(), random: systemRandom(), secret: clusterSecret(TEST_SECRET) };
  return createTenancy({ db, ...options }).ensureDevelopmentTenant(null);
}
