/** What must not be left once everything has healed and had its time. */
import { unfairShares, unownedShards } from '../checks/stall-check.js';
import { leftOpen } from '../checks/claim-check.js';
import { leftWaiting } from '../checks/queue-check.js';
import { unborn } from '../checks/family-check.js';
import { shortRef } from '../checks/names.js';
import type { World } from './world.js';

function* openRuns(world: World): Generator<string> {
  for (const state of world.truth.open()) {
    const steps = [...state.steps.values()].filter((step) => step.dueAtUs !== null || step.status === 'SCHEDULED');
    const told = steps.map((step) => `${step.path}#${step.attempt} ${step.status} on ${step.worker ?? 'nobody'}`);
    yield `run ${state.runId} has not ended: ${state.status}, ${told.join(', ')}`;
  }
}

function* lostStarts(world: World): Generator<string> {
  for (const run of world.answers.started.values()) {
    if (world.truth.state(run) === undefined) yield `run ${run.runId} was acknowledged and does not exist`;
  }
}

function* ignoredCancels(world: World): Generator<string> {
  for (const run of world.answers.cancelled.values()) {
    const state = world.truth.last(run);
    if (state !== undefined && state.closedAtUs === null) yield `run ${run.runId} was cancelled and has not ended`;
  }
}

function* unheardSignals(world: World): Generator<string> {
  for (const name of world.answers.signalled) {
    if (!world.truth.heardSignals.has(name)) yield `signal ${name} was acknowledged and never heard`;
  }
}

function* attemptsLeft(world: World): Generator<string> {
  for (const worker of world.workers) {
    for (const ref of worker.unacknowledged) yield `${worker.workerId} still has the result of ${shortRef(ref)}`;
    // A body that takes long may run on after its attempt was given up; the journal has to know the attempt.
    for (const ref of worker.holds) {
      if (!world.truth.hasOutcome(ref)) yield `${worker.workerId} runs ${shortRef(ref)}, which has no outcome`;
    }
  }
  for (const engine of world.engines) {
    if (engine.invoker.queued > 0) yield `${engine.actor.name} still has ${engine.invoker.queued} tasks in its queue`;
  }
}

function* messagesLeft(world: World): Generator<string> {
  const { size } = world.server.db.inbox;
  if (size > 0) yield `${size} messages are left in mailboxes`;
}

/** In the end every run has ended: nobody holds anything, and nobody waits. */
function* semaphoresLeft({ server }: World): Generator<string> {
  for (const { runId, path, key } of server.db.semaphores.holds.values()) {
    yield `run ${runId} ${path} still holds ${key}`;
  }
  for (const { runId, path, key } of server.db.semaphores.line) yield `run ${runId} ${path} still waits for ${key}`;
}

/** In the end nobody holds recipients. */
function* reservationsLeft({ server }: World): Generator<string> {
  for (const { runId, path, recipientId } of server.db.reservations.held) {
    yield `run ${runId} ${path} still holds recipient ${recipientId}`;
  }
}

/** What a look of the minute would leave of seats and tiers, now that every family has ended. */
function seatsLeft({ server }: World): Iterable<string> {
  server.seats.sweep();
  return server.seats.left();
}

function* callsLeft(world: World): Generator<string> {
  if (world.client.unanswered > 0) yield `${world.client.unanswered} calls of clients were never answered`;
}

/** Everything that is left, in words. */
export function looseEnds(world: World): readonly string[] {
  const finders = [
    (one: World) => unownedShards(one.server, one.engines),
    (one: World) => unfairShares(one.engines),
    openRuns,
    lostStarts,
    ignoredCancels,
    unheardSignals,
    attemptsLeft,
    messagesLeft,
    semaphoresLeft,
    reservationsLeft,
    seatsLeft,
    (one: World) => leftOpen(one.server.db),
    (one: World) => leftWaiting(one.server.db),
    (one: World) => unborn(one.truth),
    callsLeft,
  ];
  return finders.flatMap((find) => [...find(world)]);
}
