/** Telemetry: logs, metrics, traces. */
export { type BridgeFigures, registerBridgeMetrics } from './bridge-metrics.js';
export { createLog, type Log, type LogLevel, type LogOptions } from './log.js';
export { createMetrics, type Metrics } from './metrics.js';
export { normalTraceparent } from './traceparent.js';
export { type OpenSpan, openTracing, type SpanFacts, type Tracing } from './tracing.js';
