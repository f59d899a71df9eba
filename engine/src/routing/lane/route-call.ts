/** Calls of Route, and what they are answered. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../kernel/index.js';
import type { StoredDecision } from '../decisions/store/stored-decision.js';
import type { Decision } from '../pipeline/decision.js';
import type { RouteAsk } from './ask.js';
import type { Asked } from './asked.js';

/** Who asks for what. */
export interface RouteCall {
  readonly tenantId: string;
  /** The key that asks. */
  readonly principalId: string;
  readonly ask: RouteAsk;
  /** Empty: none. */
  readonly idempotencyKey: string;
}

/** An answer. */
export interface Routed {
  readonly stored: StoredDecision;
  /** How it came about; undefined: it was made before, for the same idempotency key. */
  readonly decision: Decision | undefined;
}

/** A call that waits to be decided. */
export interface WaitingCall extends RouteCall {
  readonly decisionId: string;
  readonly fingerprint: Buffer;
  /** Pools that it came to besides the first: they have to be read and locked, too. */
  readonly reach: Set<string>;
  /** What strategies in code answered about pools. */
  readonly answers: Map<string, Asked>;
  /** Time that was spent on asking them. */
  spentUs: number;
  /** How often it was decided and did not count. */
  tries: number;
  readonly resolve: (routed: Routed) => void;
  readonly reject: (error: unknown) => void;
}

/** SHA-256 of what is asked: the same key may come again with the same only. */
export function fingerprintOf(ask: RouteAsk): Buffer {
  return createHash('sha256')
    .update(canonicalJson(JSON.parse(JSON.stringify(ask))))
    .digest();
}
