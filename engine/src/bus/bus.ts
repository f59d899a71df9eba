/**
 * A bus carries hints between nodes: losing, doubling or reordering one costs latency, never correctness, because
 * everyone who listens also looks by himself now and then.
 */

/** A bus. Topics and bodies are short texts; a hint that is said again before it went out goes out once. */
export interface Bus {
  /**
   * Says something to all other nodes; this one may hear it too, and must not need it. Never throws, never waits.
   */
  publish(topic: string, body: string): void;
  /** Hears what is said from now on, never inside the call of publish. Returns how to stop. */
  subscribe(topic: string, listener: (body: string) => void): () => void;
}

/** A bus that holds a connection. */
export interface ClosableBus extends Bus {
  /** Resolves once it hears what other nodes say. */
  opened(): Promise<void>;
  /** Stops hearing and saying. What has not gone out is lost. */
  close(): Promise<void>;
}
