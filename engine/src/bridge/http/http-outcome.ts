/** What an answer, or its absence, means for the attempt of an HTTP step. Pure. */
import { jsonTextProblems, type DuctorError } from '../../kernel/index.js';
import type { EgressAnswer } from '../../egress/index.js';
import { MAX_VALUE_BYTES, type AbortOrder, type AttemptOutcome } from '../ports.js';
import type { HttpCall } from './http-request.js';

/** Another attempt may be answered otherwise: too early, too often, or the server's fault. */
const WORTH_ANOTHER: ReadonlySet<number> = new Set([408, 421, 425, 429]);
/** No later attempt changes these. */
const FINAL_CODES: ReadonlySet<string> = new Set(['egress_refused', 'value_too_large', 'invalid_argument']);
const MAX_RETRY_AFTER_MS = 86_400_000;
const MAX_SHOWN_CHARS = 200;
/** Would let whoever reads the history speak as the run. */
const KEPT_OUT: ReadonlySet<string> = new Set(['set-cookie']);

function failed(code: string, message: string, nonRetryable: boolean, retryAfterMs: number | null): AttemptOutcome {
  return { kind: 'failed', code, message, stack: '', nonRetryable, retryAfterMs };
}

/** What `retry-after` asks for, seconds or a date, ms from now; null: nothing that can be read. */
function retryAfterOf({ headers }: EgressAnswer, nowMs: number): number | null {
  const text = headers['retry-after']?.trim() ?? '';
  const askedMs = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs;
  return Number.isNaN(askedMs) ? null : Math.min(Math.max(0, askedMs), MAX_RETRY_AFTER_MS);
}

/** The body, and how it stands in the output. */
interface ReadBody {
  /** JSON text. */
  readonly json: string;
  readonly encoding: 'none' | 'json' | 'text' | 'base64';
}

function textOf(body: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return null;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function readBody({ body, headers }: EgressAnswer): ReadBody {
  if (body.length === 0) return { json: 'null', encoding: 'none' };
  const text = textOf(body);
  if (text === null || text.includes('\0')) {
    return { json: JSON.stringify(body.toString('base64')), encoding: 'base64' };
  }
  const isNamed = /^[^;]*\bjson\b/i.test(headers['content-type'] ?? '');
  // As it stands, so that large numbers keep their digits.
  return isNamed && isJson(text) ? { json: text, encoding: 'json' } : { json: JSON.stringify(text), encoding: 'text' };
}

function completed(answer: EgressAnswer): AttemptOutcome {
  const headers = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !KEPT_OUT.has(name)));
  const { json, encoding } = readBody(answer);
  const rest = `"status":${answer.status},"headers":${JSON.stringify(headers)},"body_encoding":"${encoding}"`;
  const data = Buffer.from(`{${rest},"body":${json}}`);
  if (data.length > MAX_VALUE_BYTES) {
    return failed(
      'value_too_large',
      `the answer comes to ${data.length} bytes, at most ${MAX_VALUE_BYTES}`,
      true,
      null,
    );
  }
  const [wrong] = jsonTextProblems(data);
  if (wrong !== undefined)
    return failed('invalid_argument', `the answer ${wrong.problem} at ${wrong.path}`, true, null);
  return { kind: 'completed', output: { data, encoding: 'json' } };
}

function isExpected({ expect }: HttpCall, status: number): boolean {
  return expect.includes(status) || expect.includes(`${Math.floor(status / 100)}xx`);
}

/**
 * The outcome of an answer.
 *
 * @param nowMs for a `retry-after` that is a date
 */
export function outcomeOfAnswer(call: HttpCall, answer: EgressAnswer, nowMs: number): AttemptOutcome {
  const { status, body } = answer;
  if (isExpected(call, status)) return completed(answer);
  const isFinal = status < 500 && !WORTH_ANOTHER.has(status);
  const said = body.toString('utf8', 0, MAX_SHOWN_CHARS).replaceAll(/[\p{Cc}\ufffd]+/gu, ' ');
  const message = `${call.method} was answered ${status}${said === '' ? '' : `: ${said}`}`;
  return failed(`http_${status}`, message, isFinal, retryAfterOf(answer, nowMs));
}

/**
 * The outcome of a call without an answer.
 *
 * @param told why the engine told it to stop; null: it did not
 */
export function outcomeOfFailure({ code, message }: DuctorError, told: AbortOrder['reason'] | null): AttemptOutcome {
  if (told === 'cancelled' || told === 'superseded') return { kind: 'cancelled' };
  // A step fails by a timeout under that name alone.
  const name = told === 'timed_out' || code === 'deadline_exceeded' ? 'timeout' : code;
  return failed(name, message, FINAL_CODES.has(name), null);
}
