/** What a step waits for whose work waits in a claim queue: that somebody has claimed it, or has done it. */
export type ClaimUntil = 'claimed' | 'completed';
