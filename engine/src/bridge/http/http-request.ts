/** The request of an HTTP step: what its task says, and what is sent for it. Pure. */
import { z } from 'zod';
import type { EgressRequest } from '../../egress/index.js';
import type { Task } from '../ports.js';

const SCALAR = z.union([z.string(), z.number(), z.boolean()]);

/** The input of such a task, as the definition compiles it. */
const HTTP_CALL = z.strictObject({
  method: z.string(),
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  query: z.record(z.string(), SCALAR),
  body: z.unknown().optional(),
  /** Statuses, and classes of them such as "2xx", that are an answer; any other fails the attempt. */
  expect: z.array(z.union([z.string(), z.number()])),
  max_response_bytes: z.number(),
  redirects: z.number(),
});

/** A call to make. */
export type HttpCall = z.infer<typeof HTTP_CALL>;

/** Reads the input of a task. Throws ZodError for what no definition compiles to. */
export function httpCallOf({ input }: Pick<Task, 'input'>): HttpCall {
  return HTTP_CALL.parse(JSON.parse(Buffer.from(input.data).toString('utf8')));
}

/** The URL with the parameters of the query behind its own. */
function urlOf({ url, query }: HttpCall): string {
  const whole = new URL(url);
  for (const [name, value] of Object.entries(query)) whole.searchParams.append(name, String(value));
  return whole.href;
}

/** The body as bytes: JSON, but a text as it stands where the headers say that it is no JSON. */
function bodyOf({ body }: HttpCall, contentType: string | undefined): Uint8Array | undefined {
  if (body === undefined) return undefined;
  const isPlain = typeof body === 'string' && contentType !== undefined && !/\bjson\b/i.test(contentType);
  return Buffer.from(isPlain ? body : JSON.stringify(body));
}

/**
 * What is sent.
 *
 * @param task whose idempotency key goes along, the same with each attempt, unless the headers have one
 */
export function egressRequestOf(
  call: HttpCall,
  { idempotencyKey, timeoutMs }: Pick<Task, 'idempotencyKey' | 'timeoutMs'>,
): EgressRequest {
  const given = Object.fromEntries(Object.entries(call.headers).map(([name, value]) => [name.toLowerCase(), value]));
  const body = bodyOf(call, given['content-type']);
  const headers = {
    'user-agent': 'ductor',
    // A key may be any text, a header may not.
    'idempotency-key': /^[\x21-\x7e]+$/.test(idempotencyKey) ? idempotencyKey : encodeURIComponent(idempotencyKey),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...given,
  };
  return {
    ...{ method: call.method, url: urlOf(call), headers, timeoutMs },
    ...{ maxBytes: call.max_response_bytes, maxRedirects: call.redirects },
    ...(body === undefined ? {} : { body }),
  };
}
