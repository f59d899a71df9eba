/** Names of the workloads, in the order they are run. */
export const WORKLOAD_IDS = ['w1c1', 'w1c64', 'w2c1', 'w2c16', 'w3', 'w4', 'w5', 'w6'] as const;

/** A workload. */
export type WorkloadId = (typeof WORKLOAD_IDS)[number];
