/** What the catalogue says of a failure. */

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
