/** What the engine says to an app that it calls, signed. */
import type { Clock } from '../../kernel/index.js';
import { InvokeRequest } from '../../gen/ductor/v1/callback.js';
import type { Endpoint } from '../endpoint/endpoint.js';
import type { CallbackCall } from './caller.js';
import type { CallbackSigner } from './signer.js';

/** Parts of a signed call. */
export interface SignedCallDeps {
  readonly clock: Clock;
  readonly newId: () => string;
  readonly signer: CallbackSigner;
}

/** URL, body and signature of a call that carries a task or a question, under an id of its own. */
export function signedCall(
  { clock, newId, signer }: SignedCallDeps,
  endpoint: Endpoint,
  carried: Pick<InvokeRequest, 'task' | 'strategyQuestion'>,
): Pick<CallbackCall, 'url' | 'body' | 'signature'> {
  const { endpointId, audience, url } = endpoint;
  const bytes = InvokeRequest.encode({ audience, endpointId, ...carried }).finish();
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { url, body, signature: signer.sign(endpoint, newId(), Math.floor(clock.nowUs() / 1_000_000), body) };
}
