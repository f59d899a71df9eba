/** How long a run may be kept after its end, ms: from a minute to ten years. */
export const RETENTION_MS = { min: 60_000, max: 3650 * 86_400_000 } as const;
