/** The limits of a definition, one table (docs/workflows.md prints them). */
export const DEFINITION_LIMITS = {
  /** Size of the whole as JSON without white space, bytes of UTF-8. */
  bytes: 1024 * 1024,
  /** Nesting of objects and lists. */
  depth: 64,
  steps: 1000,
  edges: 10_000,
  titleCharacters: 256,
  /** Problems that one validation lists; how many more there are is said in the last one. */
  problems: 1000,
  maxAttempts: 1000,
  backoff: 100,
  nonRetryable: 100,
  /** Longest retry wait and longest attempt, ms. */
  intervalMs: 30 * 86_400_000,
  /** Longest time an attempt may take to end, ms. */
  cancelTimeoutMs: 86_400_000,
  /** Shortest heartbeat timeout, ms: a sign of life takes its time to travel. */
  heartbeatMinMs: 500,
  switchCases: 100,
  updates: 100,
  queries: 100,
  /** Bodies in bodies. */
  bodyDepth: 5,
  /** Items of one SCATTER that are under way at a time. */
  maxParallel: 1000,
  /** The same with all SCATTERs around it: their product. */
  parallelInAll: 10_000,
  iterations: 10_000,
  /** Recipients of one SELECT. */
  slate: 100,
  /** Priorities, from 1 for the first to this one for the last. */
  priorities: 5,
  /** Slots of a worker that an attempt may take. */
  cost: 1000,
  /** Keys of one `concurrency`. */
  concurrencyKeys: 8,
  /** Highest limit of a key or rate. */
  semaphoreLimit: 1_000_000,
  /** Longest wait and longest run, ms: ten years. */
  waitMs: 3650 * 86_400_000,
} as const;
