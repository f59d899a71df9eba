/** Assignments as they are stored. */
import type { Assignment } from '../authority/assignment.js';

/** An assignment. */
export interface StoredAssignment extends Assignment {
  readonly tenantId: string;
  readonly assignmentId: string;
  readonly poolId: string;
  /** The decision that made it. */
  readonly decisionId: string;
  readonly routableId: string;
  /** The run whose step made it; null: somebody from outside did. */
  readonly runId: string | null;
  /** The item that it was claimed by; null: it was not claimed. */
  readonly claimItemId: string | null;
  readonly createdAtUs: number;
  /** When the recipient answered first; null: not yet. */
  readonly respondedAtUs: number | null;
  /** When it was completed, declined or released; null: it is open. */
  readonly endedAtUs: number | null;
  /** What it waits for, in words of those who do it; null: nothing. */
  readonly workState: string | null;
  /** The chain of runs, by its first one, with which it ends; null: it does not end by itself. */
  readonly endsWith: string | null;
}
