/** Codes of pools, recipients, capacity and routing: their part of the catalogue. */
import type { ErrorKind } from './error-kind.js';

/** Keep alphabetical. */
export const ROUTING_ERRORS = {
  assignment_state_conflict: {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retryable: false,
    meaning: 'The assignment is in a state that this does not lead on from.',
    remedy: 'Read the assignment: only an offer is accepted, confirmed or declined, only active work is completed.',
  },
  bundle_ambiguous: {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retryable: false,
    meaning: 'A bundle could not tell recipients apart: several without an external_id have one name.',
    remedy: 'Give them external_ids, or names of their own.',
  },
  capacity_authority_unavailable: {
    grpc: 'UNAVAILABLE',
    http: 503,
    retryable: true,
    meaning:
      'What counts the capacity of recipients could not be used, so nothing was admitted and nothing is known of it.',
    remedy: 'Try again; it says nothing about whether recipients have room.',
  },
  no_eligible_recipient: {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retryable: false,
    meaning: 'No recipient of the pool may be chosen for this work, and not because they are full.',
    remedy: 'Look at the states, hours, skills and rules of the recipients with PreviewRoute.',
  },
  object_archived: {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retryable: false,
    meaning: 'The object is archived and does not change any more.',
    remedy: 'Create another one in its place.',
  },
  pool_exists: {
    grpc: 'ALREADY_EXISTS',
    http: 409,
    retryable: false,
    meaning: 'A pool with this name exists.',
    remedy: 'Update that pool, or choose another name.',
  },
  recipient_capacity_exhausted: {
    grpc: 'RESOURCE_EXHAUSTED',
    http: 429,
    retryable: true,
    meaning: 'The recipient has no room for the work, by its limit at a time or by the day.',
    remedy: 'Try again when work of it has ended, or route the work to another recipient.',
  },
  recipient_exists: {
    grpc: 'ALREADY_EXISTS',
    http: 409,
    retryable: false,
    meaning: 'A recipient with this external_id exists.',
    remedy: 'Update that recipient, or choose another external_id.',
  },
  recipient_in_use: {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retryable: false,
    meaning: 'The recipient has assignments or reservations.',
    remedy: 'Set its state to RECIPIENT_STATE_DRAINING, and remove it when its work has ended.',
  },
  recipient_not_paused: {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retryable: false,
    meaning: 'Only a recipient that is paused or draining can be resumed.',
    remedy: 'Set its state by an update.',
  },
  rule_exists: {
    grpc: 'ALREADY_EXISTS',
    http: 409,
    retryable: false,
    meaning: 'A rule with this name exists.',
    remedy: 'Update that rule, or choose another name.',
  },
  selection_refused: {
    grpc: 'FAILED_PRECONDITION',
    http: 412,
    retryable: false,
    meaning: 'A step may select nobody: its pool or the rules do not let this work through.',
    remedy:
      'The message names the reason, such as pool_disabled or no_matching_rule; lead a FAILURE edge from the step.',
  },
  strategy_conflict: {
    grpc: 'INVALID_ARGUMENT',
    http: 400,
    retryable: false,
    meaning: 'A pool says in more than one way how it chooses.',
    remedy: 'Give at most one of strategy, config.recipe and config.strategy_tree; null clears a field.',
  },
} as const satisfies Record<string, ErrorKind>;
