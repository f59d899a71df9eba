/** Rare branches that 2,000 seeds have to reach; a simulator that does not get there proves nothing about them. */

/** Each with what it says. */
export const MARKS = {
  takeover_after_lease: 'a node whose lease ran out lost its shards to another',
  takeover_by_session: 'a node whose session closed lost its shards before its lease ran out',
  shards_handed_over: 'a live node gave shards to another',
  standby_refused: 'a call reached a server that had become a standby, and was refused',
  connection_waited: 'a call waited for a connection',
  night_passed: 'a cluster that nobody was up of for long came back to open runs',
  deployed: 'a run began with a version that was published meanwhile',
  limits_changed: 'limits of a pool were changed while room of it was held',
  selected: 'a step reserved recipients',
  body_for_chosen: 'a body began for those who were chosen',
  fell_through: 'a body that failed for one recipient began for the next in order',
  selection_refused: 'a step was refused recipients for want of room',
  value_too_large: 'a result was larger than a value may be',
  token_refused: 'a result without the token of its attempt was refused',
  clock_off: 'an engine learned the time on a machine whose clock was more than a minute off',
  call_answered: 'an app that was called answered',
  call_given_up: 'a call was given up: its time was over, or its attempt was told to stop',
  circuit_opened: 'an app that failed again and again was not called for a while',
  shards_left: 'a stopped node gave its shards back',
  shards_claimed_again: 'shards that had been given back were claimed',
  commit_fenced: 'the commit of a fenced node was refused',
  zombie_commit_fenced: 'a node that had been paused beyond its lease went on in mid-commit',
  heartbeat_fenced: 'a heartbeat told a node that it is fenced',
  reborn_after_fence: 'a fenced node registered under a new id',
  unknown_written: 'a commit whose answer was lost had been written',
  unknown_not_written: 'a commit whose answer was lost had not been written',
  late_commit_landed: 'a lost commit was written after its caller knew nothing of it',
  late_commit_settled: 'settle() came before a lost commit, which never happened',
  late_commit_fenced: 'a lost commit came after its node was fenced',
  orphan_commit: 'the commit of a process that had died was written',
  conflict: 'a tick met a row that was there already',
  batch_bisected: 'a batch was halved because the database refused it',
  poison_parked: 'a run was parked for a payload the database refuses',
  machine_parked: 'a run was parked because its plan threw',
  lost_workers_parked: 'three workers in a row were lost with one step',
  worker_lost: 'an attempt was lost with its worker',
  attempt_noted: 'an attempt was noted as running',
  attempt_timed_out: 'an attempt timed out',
  retry_after_backoff: 'an attempt followed another one after its wait',
  cancel_acknowledged: 'a cancelled attempt stopped',
  cancel_abandoned: 'a cancelled attempt was given up at its deadline',
  cancel_of_parked: 'a parked run was cancelled',
  gate_commit: 'a batch of the gate lane was written',
  gate_undone: 'a batch of the gate lane was undone because one of its runs had gone on',
  semaphore_waited: 'somebody stood in line for room under a key',
  slate_own: 'a step had a slate that its own chain held for it',
  refused_clean: 'all that a batch wanted was refused',
  recorded: 'a decision was recorded with the numbers that it was decided by',
  authority_unavailable: 'a step failed because locks of accounts were not to be had',
  reset: 'somebody zeroed what was committed',
  reset_while_held: 'somebody zeroed what was committed while something was held',
  child_started: 'a step started a child run',
  child_told: 'a run ended after a child that it had told to end',
  compensated: 'a run was compensated',
  signal_taken: 'a step took a signal',
  update_answered: 'a step answered an update',
  update_failed: 'an update was refused, or its step failed or was stopped',
  signal_repeated: 'a signal that was not answered was sent again',
  signal_refused: 'a signal was refused because its run had ended meanwhile',
  approval_escalated: 'an approval was escalated',
  continued: 'a run continued as new',
  continued_otherwise: 'a run continued as new with another version',
  mail_passed_on: 'a run that was continued passed a message on',
  start_existing: 'a start found the run of its idempotency key',
  start_key_raced: 'a start lost its idempotency key to another one in its commit',
  start_conflict: 'an idempotency key was used with another input',
  start_refused: 'a start was refused: node starting, fenced or full',
  start_from_lost_commit: 'a start whose answer was lost turned out to be there',
  result_by_mailbox: 'a result travelled through the mailbox',
  result_settled_before: 'a result came for an attempt that had its outcome',
  mail_by_sweep: 'a message was read although its hint was lost',
  consumption: 'a commit deleted messages without a row',
  snapshot_written: 'a snapshot was written',
  snapshot_loaded: 'a run was loaded from a snapshot',
  payloads_written: 'a commit stored values beside the journal',
  payloads_loaded: 'a run was loaded with values that stand beside its journal',
  evicted_and_loaded: 'a run that had been in memory was loaded again by the same node',
  due_scan: 'a waiting run was found by a scan for due runs',
  queue_full: 'a task found the queue full and was dispatched later',
  sent_again: 'an attempt was given to a second worker while the first had it',
  lease_lapsed: 'a node went on after its lease had lapsed unnoticed by others',
  inventory_kept: 'a worker that came back kept an attempt',
  inventory_lost: 'a worker came back without an attempt',
  stop_drained: 'a node stopped with runs open',
  clock_jumped: 'the clock of a machine was stepped by minutes while runs were open',
  claim_queued: 'a step put work in a claim queue',
  claim_won: 'a recipient claimed work',
  claim_rescinded: 'a recipient came second to work that it wanted',
  team_spent: 'a recipient was refused work by the budget of its team',
  claim_released: 'a recipient gave back what it had claimed',
  claim_told: 'a step was done because its work was claimed or completed',
  claim_expired: 'a step failed because nobody claimed its work in time',
  claim_taken_out: 'the time of a step was over, and its work was taken out of the queue',
  claim_settling: 'the time of a step was over, and its work had been claimed',
  route_queued: 'the work of a step began to wait in the queue of a pool',
  route_told: 'a step was done because somebody was free for its work',
  route_expired: 'a step failed by what its work came to in a queue',
  route_taken_out: 'the time of a step was over, and its work was taken out of the queue of its pool',
  route_settling: 'the time of a step was over, and its work had left the queue of its pool',
  seat_waited: 'a family was given a seat that its work had waited for',
  bench_completed: 'a recipient was free for work that waits',
  paused: 'somebody paused a run',
  resumed: 'a run that was paused went on',
  result_while_paused: 'a step ended while its run was paused',
  parked_resumed: 'a run that was parked went on',
  terminated: 'somebody ended a run at once',
  child_undid: 'a child was the compensation of a step',
  child_unknown: 'a child was to be of a workflow that there is not',
  child_of_random: 'a child ran a random plan',
  seat_taken: 'a family got a seat, or another one',
  seat_kept: 'a family got the seat that it had',
  seat_evicted: 'a rate limit took a seat from those who had it',
  seat_tried: 'a seat was given to one owner to try after its rate limit',
  seat_swept: 'a family had ended outside of the gate lane, and its seat was ended later',
  tier_climbed: 'a family came to a higher tier than it had been on',
  step_waited_for_room: 'a step of a random plan stood in line for room under a key',
} as const;

/** Name of a mark. */
export type Mark = keyof typeof MARKS;

function isMark(name: string): name is Mark {
  return name in MARKS;
}

/** All marks. */
export const MARK_NAMES: readonly Mark[] = Object.keys(MARKS).filter(isMark);

/** How often each mark was reached. */
export class Marks {
  readonly #counts = new Map<Mark, number>();

  get counts(): ReadonlyMap<Mark, number> {
    return this.#counts;
  }

  reach(mark: Mark): void {
    this.#counts.set(mark, (this.#counts.get(mark) ?? 0) + 1);
  }
}
