/** OpenTelemetry without its SDK: a provider that keeps the spans it made, and the W3C propagator. */
import {
  type Context,
  context,
  type ContextManager,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanOptions,
  type TextMapPropagator,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import { AsyncLocalStorage } from 'node:async_hooks';

/** A span that ended. */
export interface RecordedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Id of the span it follows from; undefined: none. */
  readonly parentId: string | undefined;
  readonly links: readonly SpanContext[];
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly failed: boolean;
}

/** What was recorded, until it is switched off. */
export interface RecordingTelemetry {
  readonly spans: readonly RecordedSpan[];
  /** Makes the API what it was. */
  disable(): void;
}

let drawn = 0;
const idOf = (chars: number): string => (drawn += 1).toString(16).padStart(chars, '0');

function spanOf(name: string, options: SpanOptions, within: Context, ended: (span: RecordedSpan) => void): Span {
  const parent = trace.getSpanContext(within);
  const own: SpanContext = {
    traceId: parent?.traceId ?? idOf(32),
    spanId: idOf(16),
    traceFlags: TraceFlags.SAMPLED,
  };
  const attributes: Record<string, unknown> = { ...options.attributes };
  const links = (options.links ?? []).map((link) => link.context);
  let failed = false;
  const span: Span = {
    spanContext: () => own,
    setAttribute: (key, value) => {
      attributes[key] = value;
      return span;
    },
    setAttributes: (more) => {
      Object.assign(attributes, more);
      return span;
    },
    setStatus: ({ code }) => {
      failed = code === 2;
      return span;
    },
    end: () =>
      ended({ name, traceId: own.traceId, spanId: own.spanId, parentId: parent?.spanId, links, attributes, failed }),
    addEvent: () => span,
    addLink: () => span,
    addLinks: () => span,
    updateName: () => span,
    isRecording: () => true,
    recordException: () => undefined,
  };
  return span;
}

const w3c: TextMapPropagator<Record<string, string>> = {
  inject(from, carrier) {
    const span = trace.getSpanContext(from);
    if (span !== undefined) carrier['traceparent'] = `00-${span.traceId}-${span.spanId}-01`;
  },
  extract(into, carrier) {
    const [, traceId, spanId] = /^00-(\w{32})-(\w{16})-/.exec(carrier['traceparent'] ?? '') ?? [];
    if (traceId === undefined || spanId === undefined) return into;
    return trace.setSpanContext(into, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });
  },
  fields: () => ['traceparent'],
};

function asyncContexts(): ContextManager {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (inside, body, self, ...args) => storage.run(inside, () => body.apply(self, args)),
    bind: (_inside, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}

/** Registers provider, propagator and context manager with the API. */
export function recordTelemetry(): RecordingTelemetry {
  const spans: RecordedSpan[] = [];
  const tracer = {
    startSpan: (name: string, options: SpanOptions = {}, within: Context = context.active()) =>
      spanOf(name, options, within, (span) => void spans.push(span)),
    startActiveSpan: (): never => {
      throw new TypeError('not used');
    },
  };
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
  propagation.setGlobalPropagator(w3c);
  context.setGlobalContextManager(asyncContexts());
  return {
    spans,
    disable() {
      trace.disable();
      propagation.disable();
      context.disable();
    },
  };
}
