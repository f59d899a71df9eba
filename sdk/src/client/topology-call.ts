/** Calls about pools, recipients and rules: credentials and deadline of each, and pages. */
import type { CallOptions, ClientUnaryCall, Metadata, ServiceError } from '@grpc/grpc-js';
import type { PageOptions } from './schedule-options.js';
import { unary } from './unary.js';

/** Credentials and deadline of the next call. */
export type Setup = () => { readonly metadata: Metadata; readonly options: CallOptions };

/** What a call takes after its request. */
type Rest<T> = [Metadata, CallOptions, (error: ServiceError | null, response: T) => void];

/** Makes a call. Throws DuctorError. */
export type Ask = <T>(call: (...rest: Rest<T>) => ClientUnaryCall) => Promise<T>;

/** Calls that are made with credentials and a deadline. */
export function askBy(setup: Setup): Ask {
  return (call) => {
    const { metadata, options } = setup();
    return unary((done) => call(metadata, options, done));
  };
}

/** A page as it is asked for. */
export function page({ pageSize = 0, cursor = '' }: PageOptions): {
  readonly pageSize: number;
  readonly cursor: string;
  readonly nextCursor: string;
} {
  return { pageSize, cursor, nextCursor: '' };
}
