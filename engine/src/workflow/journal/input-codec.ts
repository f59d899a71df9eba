/** Inputs that travel through the mailbox, as the bytes of its rows. */
import { InboxBody, type AttemptResult, type RunBirth } from '../../gen/ductor/journal/v1/journal.js';
import { DuctorError, impossible } from '../../kernel/index.js';
import type { AttemptOutcome, RunInput } from '../machine/index.js';
import type { MessageKind } from '../machine/inputs.js';
import { claimToldOf, storedClaimTold } from './claim-codec.js';
import { closedStatus } from './entries-codec.js';
import { fromStoredFamily, toStoredFamily } from './family-codec.js';
import { routeToldOf, storedRouteTold } from './queue-codec.js';
import { fromStoredSignal, toStoredSignal } from './signal-codec.js';
import { fromStoredCauses, fromStoredError, fromStoredValue, requiredValue, unreadable } from './stored.js';
import { toStoredCauses, toStoredError, toStoredValue } from './stored.js';

/** Inputs the mailbox carries. */
export type InboxInput = Extract<RunInput, { readonly kind: MessageKind }>;

function storedOutcome(outcome: AttemptOutcome): NonNullable<AttemptResult['outcome']> {
  switch (outcome.kind) {
    case 'completed':
      return { $case: 'output', value: toStoredValue(outcome.output) };
    case 'failed': {
      const { code, message, stack, nonRetryable } = outcome;
      const causes = toStoredCauses(outcome.causes);
      const ms = outcome.retryAfterMs;
      const retryAfterMs = ms === null ? undefined : BigInt(Math.max(0, Math.ceil(ms)));
      return { $case: 'error', value: { code, message, stack, nonRetryable, retryAfterMs, causes } };
    }
    case 'cancelled':
      return { $case: 'cancelled', value: true };
  }
}

/** Throws internal for a start that no step of another run asks for: those go no such way. */
function storedBirth(input: RunInput & { readonly kind: 'start' }): RunBirth {
  const { birth, attributes, traceparent } = input;
  if (birth === undefined) return impossible('birth', 'a start without a parent in a mailbox');
  const { familySlug, version, family } = birth;
  const value = toStoredValue(input.input);
  return {
    ...{ familySlug, version, attributes, input: value, family: toStoredFamily(family) },
    traceparent: traceparent ?? '',
  };
}

function birthOf(stored: RunBirth): InboxInput {
  const { familySlug, version, attributes, traceparent } = stored;
  if (stored.family === undefined) throw unreadable('a birth without a parent');
  const birth = { familySlug, version, family: fromStoredFamily(stored.family) };
  const traced = traceparent === '' ? {} : { traceparent };
  return { kind: 'start', input: requiredValue(stored.input), attributes, birth, ...traced };
}

function storedBody(input: InboxInput): NonNullable<InboxBody['body']> {
  switch (input.kind) {
    case 'cancel':
    case 'terminate':
    case 'pause':
      return { $case: input.kind, value: { reason: input.reason, requestedBy: input.requestedBy } };
    case 'resume':
    case 'retry':
      return { $case: input.kind, value: { requestedBy: input.requestedBy ?? '' } };
    case 'start':
      return { $case: 'birth', value: storedBirth(input) };
    case 'child_closed': {
      const { path, runId, status, output, error } = input;
      const value = output === null ? undefined : toStoredValue(output);
      return {
        $case: 'childClosed',
        value: { path, runId, state: status, output: value, error: toStoredError(error) },
      };
    }
    case 'claim_told':
      return { $case: 'claimTold', value: storedClaimTold(input) };
    case 'route_told':
      return { $case: 'routeTold', value: storedRouteTold(input) };
    case 'signal':
      return { $case: 'signal', value: toStoredSignal(input) };
    case 'sub_step': {
      const { path, attempt, name, output } = input;
      return { $case: 'subStep', value: { path, attempt, name, output: toStoredValue(output) } };
    }
    case 'semaphore': {
      const { path, ticket, startAtUs } = input;
      const value = { path, ticket, isGranted: startAtUs !== null, startAtUs: BigInt(startAtUs ?? 0) };
      return { $case: 'semaphore', value };
    }
    case 'result': {
      const { path, attempt } = input;
      return { $case: 'result', value: { path, attempt, outcome: storedOutcome(input.outcome) } };
    }
  }
}

/** An input as the body of a mailbox row. */
export function encodeInput(input: InboxInput): Uint8Array {
  return InboxBody.encode({ body: storedBody(input) }).finish();
}

function outcomeOf(stored: AttemptResult['outcome']): AttemptOutcome {
  switch (stored?.$case) {
    case 'output':
      return { kind: 'completed', output: fromStoredValue(stored.value) };
    case 'error': {
      const { code, message, stack, nonRetryable, retryAfterMs, causes } = stored.value;
      const ms = retryAfterMs === undefined ? null : Number(retryAfterMs);
      const behind = fromStoredCauses(causes);
      return { kind: 'failed', code, message, stack, nonRetryable, retryAfterMs: ms, ...behind };
    }
    case 'cancelled':
      return { kind: 'cancelled' };
    case undefined:
      throw unreadable('a result without an outcome this engine knows');
  }
}

function decoded(bytes: Uint8Array): InboxBody {
  try {
    return InboxBody.decode(bytes);
  } catch (cause) {
    throw new DuctorError('internal', 'stored data is unreadable [journal]: a mailbox row is not in its format', {
      cause,
    });
  }
}

/** The input a mailbox row holds. Throws internal for a kind this engine does not know. */
export function decodeInput(bytes: Uint8Array): InboxInput {
  const { body } = decoded(bytes);
  switch (body?.$case) {
    case 'cancel':
    case 'terminate':
    case 'pause':
      return { kind: body.$case, reason: body.value.reason, requestedBy: body.value.requestedBy };
    case 'resume':
    case 'retry':
      return { kind: body.$case, requestedBy: body.value.requestedBy };
    case 'birth':
      return birthOf(body.value);
    case 'semaphore': {
      const { path, ticket, isGranted, startAtUs } = body.value;
      return { kind: 'semaphore', path, ticket, startAtUs: isGranted ? Number(startAtUs) : null };
    }
    case 'childClosed': {
      const { path, runId, state, error } = body.value;
      const output = body.value.output === undefined ? null : fromStoredValue(body.value.output);
      return { kind: 'child_closed', path, runId, status: closedStatus(state), output, error: fromStoredError(error) };
    }
    case 'claimTold':
      return claimToldOf(body.value);
    case 'routeTold':
      return routeToldOf(body.value);
    case 'signal':
      return { kind: 'signal', ...fromStoredSignal(body.value) };
    case 'subStep': {
      const { path, attempt, name } = body.value;
      return { kind: 'sub_step', path, attempt, name, output: requiredValue(body.value.output) };
    }
    case 'result': {
      const { path, attempt, outcome } = body.value;
      return { kind: 'result', path, attempt, outcome: outcomeOf(outcome) };
    }
    case undefined:
      throw unreadable('a mailbox row of unknown kind; a newer engine wrote it');
  }
}
