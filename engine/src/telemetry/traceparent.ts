/** W3C trace context as text (https://www.w3.org/TR/trace-context/): version 00, trace id, span id, flags. */
import type { SpanContext } from '@opentelemetry/api';

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);
/** Longer ones are of no known version. */
const MAX_CHARS = 128;

/** The span that a text names; undefined for anything the recommendation calls invalid: a trace decides nothing. */
export function readTraceparent(text: string | undefined): SpanContext | undefined {
  if (text === undefined || text.length > MAX_CHARS) return undefined;
  const match = TRACEPARENT.exec(text);
  const [, version = '', traceId = '', spanId = '', flags = '', more] = match ?? [];
  const isKnown = version !== 'ff' && (version !== '00' || more === undefined);
  if (match === null || !isKnown || traceId === NO_TRACE || spanId === NO_SPAN) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

/** The text of a span. */
export function writeTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & 1}`;
}

/** The text as this engine keeps it; undefined when it names no span. */
export function normalTraceparent(text: string | undefined): string | undefined {
  const context = readTraceparent(text);
  return context === undefined ? undefined : writeTraceparent(context);
}
