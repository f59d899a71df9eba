/** Names that may stand once. */
import { DuctorError, type ErrorCode } from '../../kernel/index.js';
import { classify } from '../../store/index.js';

const UNIQUE_VIOLATION = '23505';

/** Awaits a write; that another row has the name already becomes an error of its own. */
export async function unlessTaken<T>(write: Promise<T>, code: ErrorCode, message: string): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (classify(error).sqlState === UNIQUE_VIOLATION) throw new DuctorError(code, message);
    throw error;
  }
}
