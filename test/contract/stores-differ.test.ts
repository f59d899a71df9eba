/**
 * The stores in memory, on which the simulator stands, and those of Postgres are asked the same, command by command,
 * and answer the same; so what the simulator shows holds for the database. DUCTOR_DIFFERENTIAL_SEQUENCES=N plays more.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { cases } from '../../engine/src/kernel/testing/test-length.js';
import { memoryWorld } from '../../engine/src/workflow/testing/memory-world.js';
import type { ContractProcess } from '../../engine/src/workflow/testing/run-store-contract.js';
import { Choices } from '../simulation/core/choices.js';
import { postgresWorld, type PostgresWorld } from '../support/postgres-world.js';
import { CommandBook, type StoreCommand } from '../support/store-commands.js';
import { StorePlayer } from '../support/store-player.js';

const SEQUENCES = Number(process.env['DUCTOR_DIFFERENTIAL_SEQUENCES'] ?? cases(30, 100));
const COMMANDS = 40;
/** Sequences that share a database. */
const SHARED = 20;

let shared: { readonly world: PostgresWorld; readonly process: ContractProcess; uses: number } | null = null;

async function database(): Promise<{ readonly world: PostgresWorld; readonly process: ContractProcess }> {
  if (shared !== null && shared.uses < SHARED) {
    shared.uses += 1;
    return shared;
  }
  await shared?.world.close();
  const world = await postgresWorld();
  shared = { world, process: await world.open(), uses: 1 };
  return shared;
}
afterAll(() => shared?.world.close());

/** Writes down what a command changed, as it was answered. */
function note(book: CommandBook, command: StoreCommand, answer: unknown): void {
  if (command.kind !== 'commit' || !Array.isArray(answer)) return;
  for (const [index, { write }] of command.ticks.entries()) {
    if (answer[index] !== 'written' || write.entries.byteLength === 0) continue;
    book.rows.set(write.runId, write.seq);
    if (write.successor !== undefined) book.rows.set(write.successor.runId, 1);
  }
}

/** A closed run gets no more rows, and nobody knows a run whose start was not written. */
function forget(book: CommandBook, command: StoreCommand, answer: unknown): void {
  if (command.kind !== 'commit') return;
  const gone = new Set<string>();
  for (const [index, { write }] of command.ticks.entries()) {
    const isWritten = Array.isArray(answer) && answer[index] === 'written';
    if (isWritten && (write.header?.closedAtUs ?? null) !== null) book.closed.add(write.runId);
    if (!isWritten && write.successor !== undefined) gone.add(write.successor.runId);
  }
  for (const runId of gone) book.drop(runId);
}

async function playOne(seed: number): Promise<void> {
  const { world, process } = await database();
  const memory = memoryWorld();
  const book = new CommandBook(new Choices(seed));
  const model = new StorePlayer(await memory.open(), (ms) => memory.advance(ms), book);
  const real = new StorePlayer(process, (ms) => world.advance(ms), book);
  const both = async (command: StoreCommand): Promise<unknown> => {
    const answer = await model.play(command);
    expect({ command, answer: await real.play(command) }).toEqual({ command, answer });
    note(book, command, answer);
    forget(book, command, answer);
    return answer;
  };
  try {
    for (let count = 0; count < COMMANDS; count += 1) {
      const answer = await both(book.next());
      // A sealed box opens by time, of which one store has more than the other.
      if (Array.isArray(answer) && answer.includes('unread')) await both({ kind: 'advance', ms: 1_000 });
      book.messages = await model.waiting();
      expect(await real.waiting()).toEqual(book.messages);
    }
    expect(await real.state()).toEqual(await model.state());
  } finally {
    await real.leave();
  }
}

describe('the stores in memory and of Postgres answer the same', () => {
  it.each(Array.from({ length: SEQUENCES }, (_, index) => index + 1))('sequence %i', { timeout: 120_000 }, playOne);
});
