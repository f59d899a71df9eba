/** Shard of a run id that was checked or comes from the store: its last byte. */
export function shardByte(runId: string): number {
  return Number.parseInt(runId.slice(34), 16);
}
