/** The tokens of attempts, as workers keep them: whoever has an attempt has its token. */
import { clusterSecret } from '../../../engine/src/kernel/index.js';
import type { AttemptRef } from '../../../engine/src/workflow/coordinator/ports.js';
import { attemptName } from '../checks/names.js';

/** Shared by all engines of a world. */
export const SECRET = clusterSecret('a secret of the simulated cluster');

/** Tokens by attempt. */
export class TokenBook {
  readonly #tokens = new Map<string, Buffer>();

  keep(ref: AttemptRef, token: Buffer): void {
    this.#tokens.set(attemptName(ref), token);
  }

  /** No bytes for an attempt that was never given out. */
  of(ref: AttemptRef): Buffer {
    return this.#tokens.get(attemptName(ref)) ?? Buffer.alloc(0);
  }
}
