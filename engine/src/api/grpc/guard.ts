/**
 * Stands before every method: finds out who calls, whether they may, whether the bytes are a message; turns whatever a
 * handler throws into a status. Streams are looked at again while they last, so that a revoked key ends them, too.
 *
 * Invariants:
 * 1. No handler runs without a principal that has the scope of its method in the permission table.
 * 2. A method without an entry in the table cannot be served.
 * 3. A method that writes and has no entry among the audited ones cannot be served.
 * 4. The tenant is the key's. A caller may name it beside the key; another one is refused.
 */
import type { Metadata } from '@grpc/grpc-js';
import { DuctorError, impossible, type Clock, type Timer } from '../../kernel/index.js';
import {
  auditedMethod,
  deedOf,
  isAuditMissing,
  leavesRow,
  PUBLIC,
  permissionOf,
  type Principal,
  type Scope,
  type Tenancy,
} from '../../tenancy/index.js';
import { toStatus, type CallStatus } from './errors/to-status.js';
import type { Report } from './errors/report.js';
import type { KeyRates } from './key-rates.js';

/** What the guard reads of a call's metadata; grpc-js's Metadata is one, the headers of an HTTP request are another. */
export type CallMetadata = Pick<Metadata, 'get' | 'getMap'>;

/** Parts of the guard. */
export interface GuardOptions {
  readonly tenancy: Pick<Tenancy, 'authenticate' | 'trail'>;
  readonly clock: Clock;
  readonly report: Report;
  /** Counts the calls of keys. Default: they are not counted. */
  readonly rates?: Pick<KeyRates, 'take'>;
}

/** How often a stream's key is looked at again, ms; with the time an answer counts, a revocation works within 4 s. */
const RECHECK_MS = 2_000;
const MAX_METADATA_BYTES = 16 * 1024;

/** The only value of a key of the metadata; undefined when absent. Throws unauthenticated when there are several. */
function single(metadata: CallMetadata, key: string): string | undefined {
  const values = metadata.get(key);
  if (values.length > 1) throw new DuctorError('unauthenticated', `the metadata has ${values.length} values of ${key}`);
  return values[0]?.toString();
}

function checkSize(metadata: CallMetadata): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(metadata.getMap())) bytes += key.length + value.length;
  if (bytes > MAX_METADATA_BYTES) {
    throw new DuctorError(
      'invalid_argument',
      `the metadata has ${bytes} bytes, at most ${MAX_METADATA_BYTES} are allowed`,
    );
  }
}

/** A text of a request; empty when there is none. */
function textField(request: unknown, name: string): string {
  const value: unknown = typeof request === 'object' && request !== null ? Reflect.get(request, name) : undefined;
  return typeof value === 'string' ? value : '';
}

/** The scope of a method that needs a key. Throws internal when the table has none: the server must not start. */
export function scopeOf(method: string): Scope {
  const permission = permissionOf(method);
  if (permission === undefined) impossible('permission-missing', `${method} has no entry in the permission table`);
  if (permission === PUBLIC) impossible('permission-public', `${method} is public and needs a key`);
  return permission;
}

/** Checks callers of one method. */
export class MethodGuard {
  readonly #options: GuardOptions;
  readonly #scope: Scope;

  constructor(
    readonly method: string,
    options: GuardOptions,
  ) {
    this.#options = options;
    this.#scope = scopeOf(method);
    if (isAuditMissing(method)) impossible('audit-missing', `${method} writes and is not among the audited methods`);
  }

  /**
   * Who calls: at once when the key was seen lately. Counts the call.
   * Throws unauthenticated, permission_denied, invalid_argument, limit_exceeded.
   */
  enter(metadata: CallMetadata): Principal | Promise<Principal> {
    const principal = this.#identify(metadata);
    return principal instanceof Promise ? principal.then((found) => this.#count(found)) : this.#count(principal);
  }

  #count(principal: Principal): Principal {
    this.#options.rates?.take(principal.principalId);
    return principal;
  }

  #identify(metadata: CallMetadata): Principal | Promise<Principal> {
    checkSize(metadata);
    const named = single(metadata, 'x-tenant-id');
    const principal = this.#options.tenancy.authenticate(single(metadata, 'authorization'));
    return principal instanceof Promise
      ? principal.then((found) => this.#admit(found, named))
      : this.#admit(principal, named);
  }

  /**
   * Looks at the key of a stream again and again.
   *
   * @param onRefused called once when the key gives no right any more
   * @returns how to stop
   */
  watch(metadata: CallMetadata, onRefused: (error: unknown) => void): () => void {
    let isStopped = false;
    let timer: Timer;
    const look = async (): Promise<void> => {
      try {
        await this.#identify(metadata);
      } catch (error) {
        const { code } = DuctorError.from(error);
        // Whether the key lives is not known while the database is away: the stream stays.
        if (!isStopped && (code === 'unauthenticated' || code === 'permission_denied')) onRefused(error);
      }
      if (!isStopped) arm();
    };
    const arm = (): void => {
      timer = this.#options.clock.setTimer(RECHECK_MS, () => void look());
    };
    arm();
    return () => {
      isStopped = true;
      timer.cancel();
    };
  }

  /**
   * Notes in the audit trail, where the method writes, that a caller's request came to nothing. A request that says
   * nothing sensible asks for no change, and one that is to come again later will.
   */
  noteFailure(principal: Principal, request: unknown, caught: unknown): void {
    const audited = auditedMethod(this.method);
    const error = DuctorError.from(caught);
    if (audited === undefined || !leavesRow(error)) return;
    this.#options.tenancy.trail.note({
      ...deedOf(principal, this.method, textField(request, 'reason')),
      tenantId: principal.tenantId,
      objectKind: audited.kind,
      objectId: textField(request, audited.field),
      outcome: error.code,
    });
  }

  /** What the caller may see of whatever was caught. Logs it when it is a fault: ask once for each. */
  reported(caught: unknown): DuctorError {
    return this.#options.report(caught, this.method);
  }

  /** The status for whatever was caught. */
  statusOf(caught: unknown): CallStatus {
    return toStatus(this.reported(caught));
  }

  #admit(principal: Principal, named: string | undefined): Principal {
    if (named !== undefined && named !== principal.tenantId) {
      throw new DuctorError('permission_denied', 'x-tenant-id is not the tenant of the key', {
        remedy: 'Leave x-tenant-id out, or use a key of that tenant.',
      });
    }
    if (!principal.scopes.has(this.#scope)) {
      const refusal = new DuctorError('permission_denied', `the key lacks the scope ${this.#scope}`);
      this.noteFailure(principal, undefined, refusal);
      throw refusal;
    }
    return principal;
  }
}
