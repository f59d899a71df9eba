/** What accounts in memory count. */
import type { Account } from '../../capacity/index.js';

/** An account without its limits, which are the pool's. */
export type Counters = Omit<Account, 'maxConcurrent' | 'dailyLimit'>;
