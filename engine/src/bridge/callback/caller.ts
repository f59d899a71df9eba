/** How an endpoint is called: one port, a form each. */
import { DuctorError } from '../../kernel/index.js';
import { InvokeResponse } from '../../gen/ductor/v1/callback.js';
import type { TaskHeartbeat } from '../../gen/ductor/v1/bridge.js';
import type { SignatureHeaders } from './signer.js';

/** One call. */
export interface CallbackCall {
  readonly url: string;
  /** An InvokeRequest. */
  readonly body: Buffer;
  readonly signature: SignatureHeaders;
  readonly timeoutMs: number;
  /** Gives it up; the app is told as far as the form can. */
  readonly signal: AbortSignal;
  /** Takes the signs of life that the form carries. */
  readonly beat: (beat: TaskHeartbeat) => void;
}

/** What ends a call: the result; parts of the work, for whose being recorded the body waits; a strategy's answer. */
export type CallAnswer = Exclude<NonNullable<InvokeResponse['event']>, { readonly $case: 'heartbeat' }>;

/** Calls endpoints of one form. */
export interface CallbackCaller {
  /** Whether apps can say how far they are: without it an open call counts as a sign of life. */
  readonly hasHeartbeats: boolean;
  /**
   * Calls and waits for the answer.
   *
   * Throws egress_refused, host_unreachable, deadline_exceeded, value_too_large, request_cancelled, callback_refused
   * (the app answered that it does not do it), callback_invalid (the answer is no result).
   */
  call(call: CallbackCall): Promise<CallAnswer>;
  /** Ends its connections. */
  close(): void;
}

/** Longest answer, bytes: a value of 2 MiB and what stands around it. */
export const MAX_ANSWER_BYTES = 2 * 1024 * 1024 + 128 * 1024;

/** What an app sent, read. Throws callback_invalid. */
export function readEvent(bytes: Uint8Array): NonNullable<InvokeResponse['event']> {
  try {
    const { event } = InvokeResponse.decode(bytes);
    if (event !== undefined) return event;
  } catch {
    // Falls through to the same answer: bytes that are no message, and a message that says nothing.
  }
  throw new DuctorError('callback_invalid', `the app answered ${bytes.length} bytes that are no result`);
}
