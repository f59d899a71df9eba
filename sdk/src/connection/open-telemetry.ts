/**
 * Traces by the app's own OpenTelemetry: the SDK depends on nothing and registers nothing. The app hands in the API it
 * uses, `import * as openTelemetry from '@opentelemetry/api'`; only what is named here is used of it.
 */

/** A span of the app's tracer. */
export interface TelemetrySpan {
  setAttribute(name: string, value: string | number): unknown;
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  recordException(error: Error): unknown;
  end(): void;
}

/** The part of @opentelemetry/api that is used; contexts are its own and only passed on. */
export interface OpenTelemetryApi {
  readonly trace: {
    getTracer(
      name: string,
      version?: string,
    ): {
      startSpan(
        name: string,
        options: { readonly kind: number; readonly attributes: Readonly<Record<string, string | number>> },
        context?: object,
      ): TelemetrySpan;
    };
    setSpan(context: object, span: object): object;
  };
  readonly context: {
    active(): object;
    with<T>(context: object, body: () => T): T;
  };
  readonly propagation: {
    inject(context: object, carrier: Record<string, string>): void;
    extract(context: object, carrier: Readonly<Record<string, string>>): object;
  };
}

/** Runs work in spans; without an API it only runs the work. */
export interface Tracer {
  /** In a span that follows from what the app does now; the work gets the trace context to send along, or ''. */
  trigger<T>(workflow: string, work: (traceparent: string, started: (runId: string) => void) => Promise<T>): Promise<T>;
  /** In a span that follows from the run's trigger, and that spans of the body follow from. */
  attempt<T>(attempt: TracedAttempt, work: () => T | Promise<T>): T | Promise<T>;
}

/** An attempt at a step. */
export interface TracedAttempt {
  readonly runId: string;
  readonly familySlug: string;
  readonly path: string;
  readonly attempt: number;
  readonly traceparent: string;
}

/** Numbers of SpanKind and SpanStatusCode, fixed by the API's contract. */
const PRODUCER = 3;
const CONSUMER = 4;
const ERROR = 2;

const UNTRACED: Tracer = {
  trigger: (_workflow, work) => work('', () => undefined),
  attempt: (_attempt, work) => work(),
};

/** A tracer over the API; undefined: one that costs nothing. */
export function tracerOf(api: OpenTelemetryApi | undefined, version: string): Tracer {
  if (api === undefined) return UNTRACED;
  const { context, propagation, trace } = api;
  const tracer = trace.getTracer('@ductor/sdk', version);

  /** Runs the work with the span active, and ends the span with it. */
  const within = async <T>(
    span: TelemetrySpan,
    parent: object,
    work: (inside: object) => T | Promise<T>,
  ): Promise<T> => {
    const inside = trace.setSpan(parent, span);
    try {
      return await context.with(inside, () => work(inside));
    } catch (error) {
      if (error instanceof Error) span.recordException(error);
      span.setStatus({ code: ERROR, message: error instanceof Error ? error.message : String(error) });
      throw error;
    } finally {
      span.end();
    }
  };
  return {
    trigger(workflow, work) {
      const parent = context.active();
      const attributes = { 'ductor.workflow': workflow };
      const span = tracer.startSpan(`trigger ${workflow}`, { kind: PRODUCER, attributes }, parent);
      return within(span, parent, (inside) => {
        const carrier: Record<string, string> = {};
        propagation.inject(inside, carrier);
        return work(carrier['traceparent'] ?? '', (runId) => span.setAttribute('ductor.run_id', runId));
      });
    },
    attempt({ runId, familySlug, path, attempt, traceparent }, work) {
      const parent = propagation.extract(context.active(), traceparent === '' ? {} : { traceparent });
      const attributes = {
        ...{ 'ductor.run_id': runId, 'ductor.workflow': familySlug },
        ...{ 'ductor.step': path, 'ductor.attempt': attempt },
      };
      const span = tracer.startSpan(`step ${path}`, { kind: CONSUMER, attributes }, parent);
      return within(span, parent, work);
    },
  };
}
