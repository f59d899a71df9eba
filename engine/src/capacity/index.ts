/** Capacity: the one authority on who has how much to do. */
export type { Counters } from './authority/counters.js';
export { closeAuthority } from './authority/sql/close-authority.js';
export { openAuthority } from './authority/sql/open-authority.js';
export { readCounters } from './authority/sql/read-counters.js';
export { resetCounters } from './authority/sql/reset-counters.js';
export { change, type Assignment, type AssignmentState, type Change, type Verb } from './authority/assignment.js';
export {
  admit,
  convert,
  onDay,
  release,
  uncommit,
  utcDay,
  type Account,
  type Accounts,
  type Admission,
  type Decided,
  type Taking,
  type Wanted,
} from './authority/decide.js';
export { toAccount, type CountersRow } from './authority/sql/account-row.js';
export { lockAccounts } from './authority/sql/lock-accounts.js';
export { writeAccounts, type AccountChange } from './authority/sql/write-accounts.js';
export {
  createAssignments,
  type AssignmentAction,
  type AssignmentCaller,
  type AssignmentFollower,
  type Assignments,
} from './assignments/assignments.js';
export type { AssignmentQuery } from './assignments/sql/read-assignments.js';
export { insertAssignments } from './assignments/sql/insert-assignments.js';
export { readAssignments } from './assignments/sql/read-assignments.js';
export { writeAssignments } from './assignments/sql/write-assignments.js';
export { setWorkState, type WorkStateChange } from './assignments/set-work-state.js';
export { notAdmitted } from './assignments/not-admitted.js';
export type { StoredAssignment } from './assignments/stored-assignment.js';
export {
  familyName,
  type Family,
  type HeldSlate,
  type Reservation,
  type ReservationChanges,
} from './reservations/reservation.js';
export { slateDigest, type SlateIdentity } from './reservations/slate-digest.js';
export { ensureFamilies, familiesInOrder, forgetFamilies, lockFamilies } from './reservations/sql/families.js';
export { explainHolding, type Holding } from './reservations/sql/explain-holding.js';
export { readReservations } from './reservations/sql/read-reservations.js';
export { deleteReservations, insertReservations } from './reservations/sql/write-reservations.js';
export { freeOf, type BoardLine, type CapacityHolder } from './board/board-line.js';
export { createBoard, type CapacityBoard } from './board/board.js';
export type { BoardQuery } from './board/sql/read-board.js';
export { readAccounts } from './assignments/sql/read-accounts.js';
export { SemaphoreBook, type Answer } from './semaphore/book.js';
export {
  keyOf,
  nameOf,
  type Holder,
  type SemaphoreChanges,
  type SemaphoreKey,
  type SemaphoreUsage,
  type Turn,
  type Waiter,
  type Want,
} from './semaphore/usage.js';
export { explainWaiting, type WaitingFor } from './sql/explain-waiting.js';
export { keyArrays } from './sql/key-arrays.js';
export { ensureSemaphores, lockSemaphoresSql } from './sql/lock-semaphores.js';
export { LINE_PAGE, readSemaphores } from './sql/read-semaphores.js';
export { writeSemaphores } from './sql/write-semaphores.js';
