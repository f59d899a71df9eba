/** Methods behind their guards as every door but grpc-js's own calls them: bytes of a message in, bytes out. */
import type { DuctorError } from '../../kernel/index.js';
import type { AnswerEvents } from './call.js';
import type { CallMetadata } from './guard.js';

/**
 * Gives the bytes of the request. Called when the caller was let in, so that a stranger's body is never read. What it
 * throws is the answer.
 */
export type ReadRequest = () => Promise<Uint8Array>;

/** How a stream of answers leaves. */
export interface ByteAnswers {
  /** False: the peer reads too slowly; tell AnswerEvents.drained when it has caught up. */
  write(response: Uint8Array): boolean;
  /** Called once: null, or whatever was caught. */
  end(caught: unknown): void;
}

interface Reporting {
  /** What the caller may see of whatever was caught. Logs faults: ask once for each. */
  reported(caught: unknown): DuctorError;
}

/** A method answered once. */
export interface GuardedUnary extends Reporting {
  readonly kind: 'unary';
  /** Rejects with whatever was caught. */
  answer(metadata: CallMetadata, read: ReadRequest): Promise<Uint8Array>;
}

/** A method answered by a stream. */
export interface GuardedStream extends Reporting {
  readonly kind: 'stream';
  /** Returns what the carrier has to tell: that the peer has caught up, that it is gone. */
  open(metadata: CallMetadata, read: ReadRequest, answers: ByteAnswers): AnswerEvents;
}

/** A method that is a stream both ways: only gRPC carries it. */
export interface GuardedBidi extends Reporting {
  readonly kind: 'bidi';
}

/** Any of them. */
export type GuardedMethod = GuardedUnary | GuardedStream | GuardedBidi;
