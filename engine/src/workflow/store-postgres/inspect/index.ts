/** What is true of runs and nodes, for people who look after them. Everything here only reads. */
export { readClusterReport, type ClusterReport, type NodeReport } from './cluster-report.js';
export { HOT_STATEMENTS, type HotStatement } from './hot-statements.js';
export { readPartitionReport, type PartitionReport } from './journal-partitions.js';
export { readStuckRuns, type RunCount, type StuckRuns } from './stuck-runs.js';
export { findCapacityDefects, type CapacityDefect } from './capacity-defects.js';
