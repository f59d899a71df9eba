/**
 * The assignments of tenants.
 *
 * Invariants:
 * 1. An assignment changes only while the account of its recipient is locked, so that what it has committed and the
 *    account agree at each commit.
 * 2. What was changed stands in the audit trail when, and only when, it was: both are one transaction.
 * 3. A list of verbs is done in its order, in one transaction; one that is refused changes nothing and takes no other
 *    with it.
 * 4. Locks that are not had in time are capacity_authority_unavailable: nothing was done, and nothing is said of room.
 */
import { DuctorError } from '../../kernel/index.js';
import { classify, type Queryable, type TenantAccess } from '../../store/index.js';
import { deedOf, insertAudit, type Principal } from '../../tenancy/index.js';
import { change, type Change, type Verb } from '../authority/assignment.js';
import { utcDay, type Accounts } from '../authority/decide.js';
import { lockAccounts } from '../authority/sql/lock-accounts.js';
import { writeAccounts, type AccountChange } from '../authority/sql/write-accounts.js';
import { notAdmitted } from './not-admitted.js';
import type { StoredAssignment } from './stored-assignment.js';
import { noteResponse } from './sql/respond.js';
import { readAccounts } from './sql/read-accounts.js';
import { listAssignments, readAssignments, type AssignmentQuery } from './sql/read-assignments.js';
import { writeAssignments } from './sql/write-assignments.js';

/** One thing to do. */
export interface AssignmentAction {
  readonly assignmentId: string;
  readonly verb: Verb;
  /** For the audit trail. */
  readonly reason: string;
}

/** Told of assignments within the transaction that changes them, once their accounts are locked and all is written. */
export type AssignmentFollower = (
  tx: Queryable,
  tenantId: string,
  assignments: readonly StoredAssignment[],
) => Promise<void>;

/** Who is told of what. */
export interface AssignmentHooks {
  /** Offers that are not offered any more. */
  readonly onAnswered?: AssignmentFollower;
  /** Assignments that have ended. */
  readonly onEnded?: AssignmentFollower;
  /** Assignments that have ended or were responded to while they waited for something. */
  readonly onWaited?: AssignmentFollower;
}

/** Who asks, and the method it called. */
export interface AssignmentCaller {
  readonly by: Principal;
  /** Full name, for the audit trail. */
  readonly method: string;
}

/** The assignments. Ids of other tenants answer not_found, as those of no assignment do. */
export interface Assignments {
  /** Throws not_found. */
  get(tenantId: string, assignmentId: string): Promise<StoredAssignment>;
  /** Latest first. */
  list(tenantId: string, query: AssignmentQuery): Promise<readonly StoredAssignment[]>;
  /**
   * Does the actions in their order, in one transaction. Doing again what was done is fine and changes nothing.
   *
   * @returns for each action the assignment as it is then, or not_found, assignment_state_conflict,
   *   recipient_capacity_exhausted, capacity_authority_unavailable (its recipient has no account). Throws
   *   capacity_authority_unavailable: locks were not had in time, database_unavailable
   */
  act(
    caller: AssignmentCaller,
    actions: readonly AssignmentAction[],
  ): Promise<readonly (StoredAssignment | DuctorError)[]>;
  /**
   * Notes that the recipient of active work has answered for the first time; again is fine and changes nothing. Throws
   * not_found, assignment_state_conflict.
   */
  respond(caller: AssignmentCaller, assignmentId: string, reason: string): Promise<StoredAssignment>;
}

function unknown(assignmentId: string): DuctorError {
  return new DuctorError('not_found', `there is no assignment ${assignmentId}`);
}

function refusal(assignment: StoredAssignment, verb: Verb, result: Exclude<Change, { kind: 'changed' }>): DuctorError {
  const name = `assignment ${assignment.assignmentId}`;
  if (result.kind === 'conflict') {
    return new DuctorError(
      'assignment_state_conflict',
      `${name} is ${result.state}: ${verb} does not lead on from that`,
    );
  }
  const admission = result.kind === 'refused' ? result.admission : undefined;
  return notAdmitted(name, admission);
}

/** Actions being done: accounts and assignments as they have become so far. */
class Acting {
  readonly #assignments: Map<string, StoredAssignment>;
  readonly #changed = new Map<string, StoredAssignment>();
  readonly #released = new Set<string>();
  readonly #assigned = new Set<string>();
  /** Actions that changed something. */
  readonly done: AssignmentAction[] = [];
  #accounts: Accounts;

  constructor(
    readonly before: ReadonlyMap<string, StoredAssignment>,
    accounts: Accounts,
    readonly nowUs: number,
  ) {
    this.#assignments = new Map(before);
    this.#accounts = accounts;
  }

  act(action: AssignmentAction): StoredAssignment | DuctorError {
    const { assignmentId, verb } = action;
    const was = this.#assignments.get(assignmentId);
    if (was === undefined) return unknown(assignmentId);
    const now = { us: this.nowUs, today: utcDay(this.nowUs) };
    const result = change(this.#accounts, was, verb, now);
    if (result.kind === 'unchanged') return was;
    if (result.kind !== 'changed') return refusal(was, verb, result);
    const isOver = result.assignment.state !== 'active';
    const became = { ...was, ...result.assignment, endedAtUs: isOver ? this.nowUs : null };
    if (was.state === 'active') this.#released.add(was.recipientId);
    if (!isOver) this.#assigned.add(was.recipientId);
    this.#accounts = result.accounts;
    this.#assignments.set(assignmentId, became);
    this.#changed.set(assignmentId, became);
    this.done.push(action);
    return became;
  }

  /** Those that were offers before. */
  get answered(): readonly StoredAssignment[] {
    return this.changed.filter(({ assignmentId }) => this.before.get(assignmentId)?.state === 'offered');
  }

  get changed(): readonly StoredAssignment[] {
    return [...this.#changed.values()];
  }

  get accounts(): readonly AccountChange[] {
    return [...this.#accounts]
      .filter(([recipientId]) => this.#released.has(recipientId) || this.#assigned.has(recipientId))
      .map(([recipientId, account]) => ({
        ...{ recipientId, account },
        lastAssignedUs: this.#assigned.has(recipientId) ? this.nowUs : null,
        lastReleasedUs: this.#released.has(recipientId) ? this.nowUs : null,
      }));
  }
}

/** Who answers offers and ends work comes back less readily than who routes: it waits longer. */
const LOCK_TIMEOUT = "set local lock_timeout = '5s'";
const NOT_IN_TIME: ReadonlySet<string> = new Set(['lock', 'serialization', 'timeout']);

/** What the database throws, as it is told. */
function told(error: unknown): unknown {
  const text = 'the locks of the recipients were not had in time';
  return NOT_IN_TIME.has(classify(error).class) ? new DuctorError('capacity_authority_unavailable', text) : error;
}

async function act(
  tx: Queryable,
  hooks: AssignmentHooks,
  { by, method }: AssignmentCaller,
  actions: readonly AssignmentAction[],
): Promise<readonly (StoredAssignment | DuctorError)[]> {
  const { tenantId } = by;
  await tx.query(LOCK_TIMEOUT);
  const ids = [...new Set(actions.map(({ assignmentId }) => assignmentId))];
  const before = await readAssignments(tx, tenantId, ids);
  const recipientIds = [...new Set([...before.values()].map(({ recipientId }) => recipientId))];
  await lockAccounts(tx, tenantId, recipientIds);
  // Later statements see what was committed while the one before waited.
  const assignments = await readAssignments(tx, tenantId, ids);
  const { accounts, nowUs } = await readAccounts(tx, tenantId, recipientIds);
  const acting = new Acting(assignments, accounts, nowUs);
  const results = actions.map((action) => acting.act(action));
  await writeAccounts(tx, tenantId, acting.accounts);
  await writeAssignments(tx, tenantId, acting.changed);
  if (acting.answered.length > 0) await hooks.onAnswered?.(tx, tenantId, acting.answered);
  const ended = acting.changed.filter(({ endedAtUs }) => endedAtUs !== null);
  if (ended.length > 0) await hooks.onEnded?.(tx, tenantId, ended);
  const waited = ended.filter(({ workState }) => workState !== null);
  if (waited.length > 0) await hooks.onWaited?.(tx, tenantId, waited);
  await insertAudit(
    tx,
    acting.done.map(({ assignmentId, reason }) => ({
      ...{ ...deedOf(by, method, reason), tenantId, objectKind: 'assignment' as const },
      ...{ objectId: assignmentId, outcome: 'ok' },
    })),
  );
  return results;
}

async function respond(
  tx: Queryable,
  hooks: AssignmentHooks,
  { by, method }: AssignmentCaller,
  assignmentId: string,
  reason: string,
): Promise<StoredAssignment> {
  const { tenantId } = by;
  const isNew = await noteResponse(tx, tenantId, assignmentId);
  const assignment = (await readAssignments(tx, tenantId, [assignmentId])).get(assignmentId);
  if (assignment === undefined) throw unknown(assignmentId);
  if (!isNew && assignment.respondedAtUs === null) {
    const message = `assignment ${assignmentId} is ${assignment.state}: only active work is responded to`;
    throw new DuctorError('assignment_state_conflict', message);
  }
  const deed = { ...deedOf(by, method, reason), tenantId, objectKind: 'assignment', objectId: assignmentId } as const;
  if (isNew) await insertAudit(tx, [{ ...deed, outcome: 'ok' }]);
  if (isNew && assignment.workState !== null) await hooks.onWaited?.(tx, tenantId, [assignment]);
  return assignment;
}

/**
 * The assignments in this database.
 *
 * @param hooks default: nobody is told
 */
export function createAssignments(db: TenantAccess, hooks: AssignmentHooks = {}): Assignments {
  return {
    async get(tenantId, assignmentId) {
      const found = await readAssignments(db.asTenant(tenantId), tenantId, [assignmentId]);
      const assignment = found.get(assignmentId);
      if (assignment === undefined) throw unknown(assignmentId);
      return assignment;
    },
    list: (tenantId, query) => listAssignments(db.asTenant(tenantId), tenantId, query),
    respond: (caller, assignmentId, reason) =>
      db.asTenant(caller.by.tenantId).transaction((tx) => respond(tx, hooks, caller, assignmentId, reason)),
    async act(caller, actions) {
      try {
        return await db.asTenant(caller.by.tenantId).transaction((tx) => act(tx, hooks, caller, actions));
      } catch (error) {
        throw told(error);
      }
    },
  };
}
