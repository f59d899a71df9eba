/** Telemetry: logs and metrics. */
export { type BridgeFigures, registerBridgeMetrics } from './bridge-metrics.js';
export { createLog, type Log, type LogLevel, type LogOptions } from './log.js';
export { createMetrics, type Metrics } from './metrics.js';
