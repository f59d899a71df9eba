/**
 * Traces by the OpenTelemetry API. The engine brings no SDK: spans exist where the process was started with one, for
 * example `node --import ./opentelemetry.js`. Without, openTracing answers null and nobody asks again.
 */
import {
  type Attributes,
  type Context,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { DuctorError } from '../kernel/index.js';
import { readTraceparent, writeTraceparent } from './traceparent.js';

/** A span that is open. */
export interface OpenSpan {
  /** W3C trace context of it, for what follows from it. */
  readonly traceparent: string;
  /** Adds facts. */
  note(attributes: Attributes): void;
  /** Ends it: well, or with what was caught. Only the first call counts. */
  end(caught?: unknown): void;
}

/** What a span is about. */
export interface SpanFacts {
  /** The span it follows from; absent or invalid: none. */
  readonly parent?: string | undefined;
  readonly kind?: 'server' | 'producer' | 'internal';
  readonly attributes: Attributes;
}

/** Makes spans. */
export interface Tracing {
  begin(name: string, facts: SpanFacts): OpenSpan;
  /** A span that is over already. Times are ms since 1970; links name spans that it worked for. */
  record(
    name: string,
    facts: SpanFacts & { readonly startMs: number; readonly endMs: number; readonly links?: readonly string[] },
  ): void;
}

const NAME = 'ductor';
const KINDS = { server: SpanKind.SERVER, producer: SpanKind.PRODUCER, internal: SpanKind.INTERNAL } as const;

function contextOf(parent: string | undefined): Context {
  const span = readTraceparent(parent);
  return span === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, span);
}

/** Spans of this process; null when no tracer provider is registered. */
export function openTracing(): Tracing | null {
  const tracer = trace.getTracer(NAME);
  // The tracer of the API itself makes spans without an id. This one is never ended, so nobody exports it.
  return isSpanContextValid(tracer.startSpan('ductor.probe').spanContext()) ? tracingOf(tracer) : null;
}

function tracingOf(tracer: Tracer): Tracing {
  return {
    begin(name, { parent, kind = 'internal', attributes }) {
      const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, contextOf(parent));
      let isEnded = false;
      return {
        traceparent: writeTraceparent(span.spanContext()),
        note: (more) => void span.setAttributes(more),
        end(caught) {
          if (isEnded) return;
          isEnded = true;
          if (caught !== undefined) {
            const { code, message } = DuctorError.from(caught);
            span.setAttribute('error.type', code);
            span.setStatus({ code: SpanStatusCode.ERROR, message });
          }
          span.end();
        },
      };
    },
    record(name, { parent, kind = 'internal', attributes, startMs, endMs, links = [] }) {
      const found = links.map(readTraceparent).filter((context) => context !== undefined);
      const options = {
        kind: KINDS[kind],
        attributes,
        startTime: startMs,
        links: found.map((context) => ({ context })),
      };
      tracer.startSpan(name, options, contextOf(parent)).end(endMs);
    },
  };
}
