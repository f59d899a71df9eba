/** What an error of the commit statement means for the batch. */
import { classify } from '../../store/index.js';
import type { CommitOutcome } from '../coordinator/ports.js';

/**
 * The outcome of a batch whose statement failed. Throws what was caught when it did not come from the database.
 *
 * A server that answers with an SQLSTATE has rolled back, with one exception: a session that is being ended (57P01 and
 * its kin) may be told so after its commit. What remains, a statement that is wrong, or a server that may not write, is
 * no fault of the batch: nothing was written, and it goes through once the cause is mended.
 */
export function outcomeOfFailure(caught: unknown): CommitOutcome {
  const found = classify(caught);
  const message = caught instanceof Error ? caught.message : String(caught);
  const sqlState = found.sqlState ?? '';
  switch (found.class) {
    case 'none':
      throw caught;
    case 'data':
      return { kind: 'rejected', sqlState, message };
    case 'serialization':
    case 'lock':
    case 'timeout':
    case 'statement':
      return { kind: 'repeat', sqlState };
    case 'unavailable':
      return sqlState.startsWith('53') ? { kind: 'repeat', sqlState } : { kind: 'unknown', message };
    case 'unknown_outcome':
      return { kind: 'unknown', message };
  }
}
