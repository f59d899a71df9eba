/** What relays need from outside, and what they call each other. */
import type { DuctorError } from '../../kernel/index.js';
import type { RelayWorkflow } from '../../gen/ductor/relay/v1/relay.js';
import type { WorkRequest, WorkResponse } from '../../gen/ductor/v1/bridge.js';

/** A node of the cluster, as the database names it. */
export interface PeerNode {
  readonly nodeId: string;
  /** host:port. */
  readonly address: string;
}

/** The way to the node that borrows. */
export interface RelayLine {
  send(message: WorkRequest): void;
  /** Sends nothing more and still listens. */
  finish(): void;
  /** Ends it at once; nothing is heard of it any more. */
  cancel(): void;
}

/** What a line tells. */
export interface RelayLineEvents {
  received(message: WorkResponse): void;
  /** It ended, well (null) or with an error. Called once, never inside a call to the line. */
  ended(error: DuctorError | null): void;
}

/** What is said first on a line. */
export interface RelayOpening {
  readonly tenantId: string;
  readonly workflows: readonly RelayWorkflow[];
  /** Holds the hello of the worker. */
  readonly work: WorkRequest;
}

/** Opens lines to other nodes. Never throws: a line that cannot be opened ends. */
export interface RelayDialer {
  dial(node: PeerNode, opening: RelayOpening, events: RelayLineEvents): RelayLine;
  /** Ends all lines. */
  close(): void;
}
