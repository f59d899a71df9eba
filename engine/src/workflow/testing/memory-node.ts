/** A node of the database in memory. */
export interface MemoryNode {
  readonly nodeId: string;
  address: string;
  leaseUntilUs: number;
  isFenced: boolean;
  isSessionOpen: boolean;
}

/** When the first lease of another live node runs out; null: there is no other. */
export function firstLeaseEndUs(nodes: Iterable<MemoryNode>, nodeId: string, nowUs: number): number | null {
  let firstUs: number | null = null;
  for (const node of nodes) {
    if (node.nodeId === nodeId || node.isFenced || node.leaseUntilUs <= nowUs) continue;
    firstUs = Math.min(firstUs ?? node.leaseUntilUs, node.leaseUntilUs);
  }
  return firstUs;
}
