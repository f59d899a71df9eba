/** The stream under a session, as the server gives it. */
import type { DuctorError } from '../../kernel/index.js';
import type { WorkRequest, WorkResponse } from '../../gen/ductor/v1/bridge.js';

/** What a session does to its stream. */
export interface WorkStream {
  /** Sends; false: the peer reads too slowly, wait for `drained` before more is sent. */
  write(message: WorkResponse): boolean;
  /** Stops reading. */
  pause(): void;
  /** Reads on. */
  resume(): void;
  /** Ends the stream: well (null) or with an error. Called once. */
  end(error: DuctorError | null): void;
}

/** What a stream tells its session. */
export interface WorkStreamEvents {
  received(message: WorkRequest): void;
  /** The stream takes messages again. */
  drained(): void;
  /** The worker sends nothing more and still listens. */
  finished(): void;
  /** The stream is gone, whoever ended it. */
  gone(): void;
}
