/** Signed HTTP callbacks: one POST an attempt. */
import { DuctorError } from '../../kernel/index.js';
import type { EgressAnswer, EgressClient } from '../../egress/index.js';
import { MAX_ANSWER_BYTES, readEvent, type CallbackCaller } from './caller.js';

const CONTENT_TYPE = 'application/protobuf';
const MAX_SHOWN_CHARS = 200;
const MAX_RETRY_AFTER_S = 86_400;

/** Seconds that the answer asks to wait, as ms; undefined: it does not say. */
function retryAfterMs({ headers }: EgressAnswer): number | undefined {
  const text = headers['retry-after'];
  return text !== undefined && /^\d{1,6}$/.test(text) ? Math.min(Number(text), MAX_RETRY_AFTER_S) * 1_000 : undefined;
}

function refusal(answer: EgressAnswer): DuctorError {
  const text = answer.body.toString('utf8', 0, MAX_SHOWN_CHARS).replaceAll(/\p{Cc}+/gu, ' ');
  const after = retryAfterMs(answer);
  const options = after === undefined ? {} : { retryAfterMs: after };
  return new DuctorError('callback_refused', `the app answered ${answer.status}: ${text}`, options);
}

/** A caller over this client. */
export function httpCaller(client: EgressClient): CallbackCaller {
  return {
    hasHeartbeats: false,
    async call({ url, body, signature, timeoutMs, signal }) {
      const answer = await client.send({
        ...{ method: 'POST', url, body, timeoutMs, signal, maxBytes: MAX_ANSWER_BYTES },
        headers: { ...signature, 'content-type': CONTENT_TYPE, accept: CONTENT_TYPE },
      });
      if (answer.status !== 200) throw refusal(answer);
      const event = readEvent(answer.body);
      if (event.$case !== 'heartbeat') return event;
      throw new DuctorError('callback_invalid', 'the app answered with a heartbeat instead of a result');
    },
    close: () => undefined,
  };
}
