/** Bounds of the bridge; docs/decisions/0008-bridge.md says why. */

/** Where a message to a worker is cut, bytes; a single larger value still goes, alone. */
export const CUT_BYTES = 1024 * 1024;
/** Longest time from the opening of a stream to its hello. */
export const HELLO_TIMEOUT_MS = 5_000;
/** How often a stream is asked whether its worker is there. */
export const PING_INTERVAL_MS = 5_000;
/** Pings in a row without an answer that end a stream. */
export const MAX_UNANSWERED_PINGS = 3;
/** How often workers are asked to send a heartbeat of what they run. */
export const HEARTBEAT_INTERVAL_MS = 5_000;
/** How long an older stream of a worker may take to show life once a newer one is there. */
export const SUSPECT_MS = 1_000;
/** How long it is remembered what a worker that went away had: longer than attempts wait for it (15 s by default). */
export const FORGET_WORKER_MS = 120_000;
/** How long a stream whose worker has finished sending waits for the last acknowledgements. */
export const LINGER_MS = 10_000;
/** Tasks handed out in one turn of the event loop. */
export const TASKS_PER_TURN = 2_000;

/** Tasks that a worker may say it runs at once. */
export const MAX_SLOTS = 10_000;
/** Workflows that a worker may serve. */
export const MAX_WORKFLOWS = 1_000;
/** Handlers that a worker may offer. */
export const MAX_HANDLERS = 1_000;
/** Queues that a worker may serve. */
export const MAX_QUEUES = 100;
/** Attempts that a worker may say it holds when it (re)connects. */
export const MAX_HOLDS = 50_000;
/** Strategies in code that an app may have. */
export const MAX_STRATEGIES = 100;
/** Questions to strategies in code that a session has at once; beyond, others are asked, or nobody. */
export const MAX_QUESTIONS = 1_000;
/** Longest question. */
export const MAX_QUESTION_BYTES = 2 * 1024 * 1024;
/** Of what an app says why its strategy did not choose; longer is cut. */
export const MAX_PROBLEM_CHARS = 200;
/** Open sessions of workers of one tenant on a node. */
export const MAX_SESSIONS_PER_TENANT = 1_000;
/** Open sessions of workers on a node. */
export const MAX_SESSIONS = 10_000;
/** Names: handlers, queues, encodings of values. */
export const MAX_NAME_CHARS = 128;
/** Of the path of a step in a message of a worker. */
export const MAX_STEP_PATH_CHARS = 1_024;
/** Of an error that a worker reports; longer is cut. */
export const MAX_ERROR_CODE_CHARS = 128;
/** The same of its message. */
export const MAX_ERROR_MESSAGE_CHARS = 8_192;
/** The same of its stack. */
export const MAX_ERROR_STACK_CHARS = 32_768;
/** Errors behind an error; further ones are dropped. */
export const MAX_ERROR_CAUSES = 16;
/** Of each of them; longer is cut. */
export const MAX_CAUSE_MESSAGE_CHARS = 1_024;
/** The same. */
export const MAX_CAUSE_STACK_CHARS = 4_096;
/** Progress in a heartbeat; what is larger counts as a sign of life alone. */
export const MAX_PROGRESS_BYTES = 64 * 1024;
/** Results a stream may have in the coordinator beyond four for each of its slots, before it is not read any more. */
export const SPARE_RESULTS = 1_000;
