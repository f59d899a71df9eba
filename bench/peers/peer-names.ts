/** The engines that are measured. Ductor first: ratios are its figure divided by the other's. */
export const PEER_NAMES = ['ductor', 'dbos', 'restate'] as const;

/** An engine that is measured. */
export type PeerName = (typeof PEER_NAMES)[number];
