/**
 * The closed catalogue of everything Ductor can answer that is not a success. One entry per code; the same code goes
 * through gRPC, REST, Connect, the SDK and into stored failures. A code that was ever released is never reused for
 * another meaning: retire it in RETIRED_CODES instead.
 */

/** gRPC status names used by the catalogue. */
export type GrpcStatusName =
  | 'INVALID_ARGUMENT'
  | 'UNAUTHENTICATED'
  | 'PERMISSION_DENIED'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'ABORTED'
  | 'FAILED_PRECONDITION'
  | 'RESOURCE_EXHAUSTED'
  | 'UNAVAILABLE'
  | 'DEADLINE_EXCEEDED'
  | 'CANCELLED'
  | 'UNIMPLEMENTED'
  | 'INTERNAL';

/** One kind of failure. */
export interface ErrorKind {
  /** gRPC status the code travels with. */
  readonly grpc: GrpcStatusName;
  /** HTTP status the code travels with. */
  readonly http: number;
  /** Whether the same call may succeed later without a change. */
  readonly retryable: boolean;
  /** What happened, one sentence, for the docs. */
  readonly meaning: string;
  /** What the caller should do; used when the thrower has nothing more exact to say. */
  readonly remedy: string;
}

/** Every code. Keep alphabetical. */
export const ERROR_CATALOGUE = {
  address_unavailable: {
    grpc: 'UNAVAILABLE',
    http: 503,
    retryable: false,
    meaning: 'The engine cannot listen on the address it was given.',
    remedy: 'Choose another port with --port or DUCTOR_PORT, or stop what listens there.',
  },
  approval_not_open: {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retryable: false,
    meaning: 'No step of the run waits for this decision: it was taken, its time is over, or nobody was asked yet.',
    remedy: 'Look with ExplainRun what the run waits for.',
  },
  assertion_failed: {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retryable: false,
    meaning: 'A condition of an assert step does not hold for the values it met.',
    remedy: 'Mend the values, or the condition.',
  },
  callback_invalid: {
    grpc: 'UNAVAILABLE',
    http: 503,
    retryable: true,
    meaning: 'What a callback endpoint answered is no result of the attempt it was called for.',
    remedy: 'Let the SDK answer: expressCallback or serveCallbacks; look for what answers in its place.',
  },
  callback_refused: {
    grpc: 'UNAVAILABLE',
    http: 503,
    retryable: true,
    meaning: 'A callback endpoint answered that it does not do what it was called for.',
    remedy: 'Read its answer in the message: often its signing key, its audience or its clock is wrong.',
  },
  database_role_unsuitable: {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retryable: false,
    meaning: 'Row-level security shuts out the role that the engine connects as: it would see an empty database.',
    remedy: 'As a superuser: grant ductor_engine and ductor_api to the role that DATABASE_URL names.',
  },
  database_settings_unsafe: {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retryable: false,
    meaning: 'The database may lose acknowledged commits (fsync, synchronous_commit or full_page_writes is off).',
    remedy: 'Turn the setting on, or set DUCTOR_ALLOW_UNSAFE_DATABASE=true where losing data is acceptable.',
  },
  database_unavailable: {
    grpc: 'UNAVAILABLE',
    http: 503,
    retryable: true,
    meaning: 'The database could not be reached or did not answer in time.',
    remedy: 'Retry with backoff; check DATABASE_URL and the server.',
  },
  database_version_unsupported: {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retryable: false,
    meaning: 'The PostgreSQL server is too old, or its schema belongs to a newer engine.',
    remedy: 'Use PostgreSQL 15 or newer, and an engine at least as new as the schema.',
  },
  deadline_exceeded: {
    grpc: 'DEADLINE_EXCEEDED',
    http: 504,
    retryable: true,
    meaning: 'The call was not answered before its deadline. What it asked for may still have happened.',
    remedy: 'Retry with the same idempotency key.',
  },
  egress_refused: {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retryable: false,
    meaning: 'The engine may not call this URL: its address is not public, or it is called without TLS.',
    remedy: 'Use an https URL with a public address, or let DUCTOR_EGRESS_ALLOW name the network.',
  },
  embedded_database_failed: {
    grpc: 'UNAVAILABLE',
    http: 503,
    retryable: false,
    meaning: 'The embedded PostgreSQL did not start, or its data folder cannot be used.',
    remedy: 'Read the lines of its log in the message; mend the folder, choose another, or set DATABASE_URL.',
  },
  embedded_database_unsupported: {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retryable: false,
    meaning: 'There is no embedded PostgreSQL for this platform, or its package is not installed.',
    remedy: 'Set DATABASE_URL to a PostgreSQL server (15 or newer).',
  },
  engine_unreachable: {
    grpc: 'UNAVAILABLE',
    http: 503,
    retryable: true,
    meaning: 'No engine answered at the address that was called. Said by clients, never by an engine.',
    remedy: 'Check the address, and that the engine runs: `ductor dev` starts one for development.',
  },
  expression_failed: {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retryable: false,
    meaning: 'A CEL expression failed on the values it met.',
    remedy: 'Guard the expression with has() or a condition, or mend the value.',
  },
  expression_invalid: {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retryable: false,
    meaning: 'A CEL expression does not parse or does not type-check.',
    remedy: 'Mend the expression at the position named.',
  },
  expression_too_costly: {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retryable: false,
    meaning: 'A CEL expression is larger, or would visit more, than the limits allow.',
    remedy: 'Split it, or iterate over less.',
  },
  host_unreachable: {
    grpc: 'UNAVAILABLE',
    http: 503,
    retryable: true,
    meaning:
      'A host that the engine called has no address, takes no connection, or broke off before its answer was whole.',
    remedy: 'Check the URL, and that the host is up.',
  },
  idempotency_conflict: {
    grpc: 'ALREADY_EXISTS',
    http: 409,
    retryable: false,
    meaning: 'The idempotency key was used before with another input.',
    remedy: 'Use a new key for new input, or send the input the key was first used with.',
  },
  internal: {
    grpc: 'INTERNAL',
    http: 500,
    retryable: false,
    meaning: 'A fault of the engine itself.',
    remedy: 'Report it with the tag in the message.',
  },
  invalid_argument: {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retryable: false,
    meaning: 'A field of the request is missing, malformed or out of bounds.',
    remedy: 'Mend the fields listed in details.',
  },
  invalid_definition: {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retryable: false,
    meaning: 'A workflow definition cannot run as it stands.',
    remedy: 'Mend everything listed in details; each names its path.',
  },
  key_limit_reached: {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retryable: false,
    meaning: 'Two live keys of this name exist: one in use and one to replace it.',
    remedy: 'Revoke the older one, or choose another name.',
  },
  limit_exceeded: {
    grpc: 'RESOURCE_EXHAUSTED',
    http: 429,
    retryable: true,
    meaning: 'A bounded queue or rate is full.',
    remedy: 'Retry after the hinted time.',
  },
  mailbox_full: {
    grpc: 'RESOURCE_EXHAUSTED',
    http: 429,
    retryable: true,
    meaning: 'The run holds as many signals as it may that no step has taken.',
    remedy: 'Wait until its steps have taken some, send less often, or cancel the run.',
  },
  message_too_large: {
    grpc: 'INVALID_ARGUMENT',
    http: 413,
    retryable: false,
    meaning: 'The request is larger than 4 MiB.',
    remedy: 'Send less: store large values elsewhere and pass references, or split the batch.',
  },
  method_not_allowed: {
    grpc: 'UNIMPLEMENTED',
    http: 405,
    retryable: false,
    meaning: 'The path exists, but not for this HTTP method.',
    remedy: 'Use one of the methods that the header allow names.',
  },
  node_fenced: {
    grpc: 'UNAVAILABLE',
    http: 503,
    retryable: true,
    meaning: 'This node lost its lease; another node has taken over its work.',
    remedy: 'Retry; the call will reach a live node.',
  },
  node_starting: {
    grpc: 'UNAVAILABLE',
    http: 503,
    retryable: true,
    meaning: 'This node owns no shards yet, or is shutting down.',
    remedy: 'Retry in a moment or at another node.',
  },
  not_assignee: {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retryable: false,
    meaning: 'Who is named as the one who decided may not decide this approval.',
    remedy: 'Let one of the assignees in the message decide.',
  },
  not_found: {
    grpc: 'NOT_FOUND',
    http: 404,
    retryable: false,
    meaning: 'There is no such object in this tenant.',
    remedy: 'Check the id; a foreign object answers the same.',
  },
  operator_exists: {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retryable: false,
    meaning: 'The database has a live key that may make tenants; another first one is not made.',
    remedy: 'Use that key to make others; docs/security.md says what to do when it is lost.',
  },
  permission_denied: {
    grpc: 'PERMISSION_DENIED',
    http: 403,
    retryable: false,
    meaning: 'The key lacks the scope this method needs.',
    remedy: 'Use a key with the scope named in the message.',
  },
  request_cancelled: {
    grpc: 'CANCELLED',
    http: 499,
    retryable: false,
    meaning: 'What was under way was given up because its result was no longer wanted.',
    remedy: 'None is needed; what it asked for may still have happened.',
  },
  route_not_found: {
    grpc: 'NOT_FOUND',
    http: 404,
    retryable: false,
    meaning: 'Nothing is served at this path.',
    remedy: 'See /docs or /openapi.json of the engine for its paths.',
  },
  run_closed: {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retryable: false,
    meaning: 'The run has ended and accepts nothing more.',
    remedy: 'Start a new run.',
  },
  run_not_parked: {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retryable: false,
    meaning: 'The run is open but not parked: it tries again by itself.',
    remedy: 'Look at why it waits with ExplainRun; a paused run goes on with ResumeRun.',
  },
  schedule_exists: {
    grpc: 'ALREADY_EXISTS',
    http: 409,
    retryable: false,
    meaning: 'There is a schedule of this name already.',
    remedy: 'Choose another slug, or update the schedule that is there.',
  },
  signal_unknown: {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retryable: false,
    meaning: 'No step of the version that the run executes waits for a signal of this name.',
    remedy: 'Use one of the names in the message.',
  },
  strategy_conflict: {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retryable: false,
    meaning: 'A pool says in more than one way how it chooses.',
    remedy: 'Give at most one of strategy, config.recipe and config.strategy_tree; null clears a field.',
  },
  tenant_exists: {
    grpc: 'ALREADY_EXISTS',
    http: 409,
    retryable: false,
    meaning: 'A tenant with this slug exists.',
    remedy: 'Choose another slug.',
  },
  unauthenticated: {
    grpc: 'UNAUTHENTICATED',
    http: 401,
    retryable: false,
    meaning: 'The call carries no key, or one that is unknown, expired or revoked.',
    remedy: 'Send "Authorization: Bearer KEY" with a live key.',
  },
  unimplemented: {
    grpc: 'UNIMPLEMENTED',
    http: 501,
    retryable: false,
    meaning: 'This engine does not have that feature.',
    remedy: 'See the documentation for what this version supports.',
  },
  unsupported_media_type: {
    grpc: 'INVALID_ARGUMENT',
    http: 415,
    retryable: false,
    meaning: 'The body is in a format or encoding that this path does not read.',
    remedy: 'Send JSON with the header "content-type: application/json".',
  },
  value_too_large: {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retryable: false,
    meaning: 'A value is larger than 2 MiB.',
    remedy: 'Store it elsewhere and pass a reference.',
  },
  version_conflict: {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retryable: false,
    meaning: 'The object changed since it was read.',
    remedy: 'Read it again and retry with its current version.',
  },
  worker_superseded: {
    grpc: 'ABORTED',
    http: 409,
    retryable: true,
    meaning: 'A newer stream of the same worker took the place of this one, which showed no sign of life.',
    remedy: 'Go on with the newer stream; do not open this one again.',
  },
  worker_unresponsive: {
    grpc: 'DEADLINE_EXCEEDED',
    http: 504,
    retryable: true,
    meaning: 'A worker did not send its hello in time, or left pings unanswered.',
    remedy: 'Open a new stream; look for code that blocks the event loop of the worker.',
  },
  workflow_exists: {
    grpc: 'ALREADY_EXISTS',
    http: 409,
    retryable: false,
    meaning: 'A workflow with this family_slug exists.',
    remedy: 'Update it, or choose another slug.',
  },
  workflow_not_published: {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retryable: false,
    meaning: 'The workflow has no published version to run.',
    remedy: 'Publish it first.',
  },
} as const satisfies Record<string, ErrorKind>;

/** Code of a failure, from the closed catalogue. */
export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** Codes that were released once and must never come back with another meaning. */
export const RETIRED_CODES: readonly string[] = [];
