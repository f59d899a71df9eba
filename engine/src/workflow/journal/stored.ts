/** Values, sources and failures between memory and their stored form. Bytes are never copied on the way out. */
import { DuctorError, impossible } from '../../kernel/index.js';
import type {
  StoredCause,
  StoredError,
  StoredValue,
  ValueSource as StoredSource,
} from '../../gen/ductor/journal/v1/journal.js';
import {
  NULL_VALUE,
  type ErrorCause,
  type RunFailure,
  type StepKeys,
  type Value,
  type ValueSource,
} from '../machine/index.js';

/** What was read is not what this engine writes. */
export function unreadable(what: string): DuctorError {
  return new DuctorError('internal', `stored data is unreadable [journal]: ${what}`);
}

function asBuffer(data: Uint8Array): Buffer {
  return Buffer.isBuffer(data) ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

const NO_DIGEST = Buffer.alloc(0);

/** A value as stored; "" stands for json, the usual. */
export function toStoredValue(value: Value): StoredValue {
  if (value.absent !== undefined) impossible('absent-value', `the value ${value.absent.digest} was not loaded`);
  const encoding = value.encoding === 'json' ? '' : value.encoding;
  return { data: asBuffer(value.data), encoding, digest: NO_DIGEST, size: 0 };
}

/** A stored value; absent when its bytes stand in the payloads of the run. */
export function fromStoredValue({ data, encoding, digest, size }: StoredValue): Value {
  const value = { data, encoding: encoding === '' ? 'json' : encoding };
  return digest.byteLength === 0 ? value : { ...value, absent: { digest: digest.toString('hex'), size } };
}

/** A stored value; JSON null when absent. */
export function requiredValue(stored: StoredValue | undefined): Value {
  return stored === undefined ? NULL_VALUE : fromStoredValue(stored);
}

/** A source as stored. */
export function toStoredSource(source: ValueSource | null): StoredSource | undefined {
  if (source === null) return undefined;
  switch (source.kind) {
    case 'value':
      return { source: { $case: 'value', value: toStoredValue(source.value) } };
    case 'runInput':
      return { source: { $case: 'runInput', value: true } };
    case 'item':
      return { source: { $case: 'item', value: true } };
    case 'vars':
      return { source: { $case: 'vars', value: true } };
    case 'stepOutput':
      return { source: { $case: 'stepOutput', value: source.path } };
  }
}

/** A stored source; null when absent. Throws internal for a kind this engine does not know. */
export function fromStoredSource(stored: StoredSource | undefined): ValueSource | null {
  if (stored === undefined) return null;
  const { source } = stored;
  switch (source?.$case) {
    case 'value':
      return { kind: 'value', value: fromStoredValue(source.value) };
    case 'runInput':
      return { kind: 'runInput' };
    case 'item':
      return { kind: 'item' };
    case 'vars':
      return { kind: 'vars' };
    case 'stepOutput':
      return { kind: 'stepOutput', path: source.value };
    case undefined:
      throw unreadable('a value source of unknown kind');
  }
}

/** Keys of a step as stored. */
export function toStoredKeys(keys: StepKeys | null | undefined): { fairnessKey: string; idempotencyKey: string } {
  return { fairnessKey: keys?.fairness ?? '', idempotencyKey: keys?.idempotency ?? '' };
}

/** Stored keys of a step; null when all are the default ones. */
export function fromStoredKeys(stored: { fairnessKey: string; idempotencyKey: string }): StepKeys | null {
  const { fairnessKey: fairness, idempotencyKey: idempotency } = stored;
  return fairness === '' && idempotency === '' ? null : { fairness, idempotency };
}

/** A failure as stored. */
export function toStoredError(error: RunFailure | null): StoredError | undefined {
  return error === null ? undefined : { ...error, causes: toStoredCauses(error.causes) };
}

/** What is behind a failure, as stored. */
export function toStoredCauses(causes: readonly ErrorCause[] = []): StoredCause[] {
  return causes.map((cause) => ({ ...cause }));
}

/** The same, read; absent when there is nothing. */
export function fromStoredCauses(stored: readonly StoredCause[]): { readonly causes?: readonly ErrorCause[] } {
  if (stored.length === 0) return {};
  return { causes: stored.map(({ name, message, stack, of, isMember }) => ({ name, message, stack, of, isMember })) };
}

/** A stored failure; null when absent. */
export function fromStoredError(stored: StoredError | undefined): RunFailure | null {
  if (stored === undefined) return null;
  const { code, message, step, attempt, retryable, stack, causes } = stored;
  return { code, message, step, attempt, retryable, stack, ...fromStoredCauses(causes) };
}

/** A stored failure that must be there. Throws internal when it is not. */
export function requiredError(stored: StoredError | undefined): RunFailure {
  const error = fromStoredError(stored);
  if (error === null) throw unreadable('a failure without its error');
  return error;
}

/** A stored time in microseconds since 1970; null when it is 0, which means absent. */
export function orNull(us: bigint): number | null {
  return us === 0n ? null : Number(us);
}
