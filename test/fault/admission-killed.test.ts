/**
 * Admission by three engines as processes, which are killed with SIGKILL again and again while they select, end and
 * start children, six sessions each, of which some are cut too; whoever comes back takes over what was open. Whatever
 * is killed: never above a limit, nothing released too early, nothing left, no deadlock.
 */
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../engine/src/kernel/index.js';
import { cases } from '../../engine/src/kernel/testing/test-length.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { capacitiesFor, deadlocks, disagreements, leftovers, violations } from '../support/admission-checks.js';
import type { EngineWord } from '../support/admission-engine.js';
import { AdmissionWorld } from '../support/admission-world.js';
import { type Child, startChild } from '../support/child.js';
import { cleanUpProcesses } from '../support/processes.js';
import { ensureTenant } from '../support/test-tenant.js';
import { sleep, until } from '../support/wait.js';
import { typescript } from '../support/worker.js';

/** In full in CI's longer lane. */
const OPERATIONS = cases(1_500, 30_000);
const KILLS = cases(5, 40);
const ENGINES = ['engine-1', 'engine-2', 'engine-3'];
const SESSIONS = 6;
const LIMIT_MS = 120_000 + OPERATIONS * 20;
const SCRIPT = fileURLToPath(new URL('../support/admission-engine.ts', import.meta.url));

const test = testDatabase();
cleanUpProcesses();

/** Engines by their names, and what all that ever were have said last. */
class Engines {
  readonly #running = new Map<string, Child>();
  readonly #words = new Map<string, EngineWord>();
  #started = 0;

  constructor(
    readonly url: string,
    readonly tenantId: string,
  ) {}

  /** Resolves when it has taken over and works. */
  async start(name: string): Promise<void> {
    const incarnation = `${name} ${(this.#started += 1)}`;
    const child = startChild({
      ...{ name: incarnation, args: typescript(SCRIPT) },
      env: {
        ...{ ADMISSION_URL: this.url, ADMISSION_TENANT: this.tenantId, ADMISSION_ENGINE: name },
        ...{ ADMISSION_SEED: String(this.#started), ADMISSION_SESSIONS: String(SESSIONS) },
      },
      // The test is the only one that sends to it.
      onMessage: (word) => void this.#words.set(incarnation, word as EngineWord),
    });
    this.#running.set(name, child);
    await until(
      `${incarnation} to work`,
      () => {
        if (!child.isRunning) throw new RangeError(`${incarnation} ended\n${child.output}`);
        return (this.#words.get(incarnation)?.operations ?? 0) > 0;
      },
      { limitMs: 60_000, everyMs: 20, detail: () => child.output },
    );
  }

  async kill(name: string): Promise<void> {
    await this.#running.get(name)?.kill();
  }

  /** Lets all finish what they do; how they ended. */
  async end(): Promise<readonly (number | null)[]> {
    for (const child of this.#running.values()) child.send({ end: true });
    const exits = await Promise.all([...this.#running.values()].map(({ exited }) => exited));
    return exits.map(({ code }) => code);
  }

  sum(count: (word: EngineWord) => number): number {
    return [...this.#words.values()].reduce((total, word) => total + count(word), 0);
  }

  errors(): readonly string[] {
    return [...this.#words.values()].flatMap(({ errors }) => errors);
  }
}

describe(`over ${OPERATIONS} operations of three engines, of which ${KILLS} are killed`, () => {
  let engines: Engines;
  let tenantId = '';
  const midst: string[] = [];
  let ends: readonly (number | null)[] = [];

  beforeAll(async () => {
    tenantId = await ensureTenant(test.db);
    const world = new AdmissionWorld(test.db, tenantId);
    await world.open(capacitiesFor(OPERATIONS));
    engines = new Engines(test.url, tenantId);
    await Promise.all(ENGINES.map((name) => engines.start(name)));
    const random = seededRandom(7);
    for (let kills = 1; kills <= KILLS; kills += 1) {
      const enough = (OPERATIONS * kills) / (KILLS + 1);
      await until('operations', () => engines.sum(({ operations }) => operations) >= enough, { limitMs: LIMIT_MS });
      await sleep(random.uint32() % 50);
      const name = ENGINES[random.uint32() % ENGINES.length] ?? '';
      await engines.kill(name);
      midst.push(...(await disagreements(test.db)));
      await engines.start(name);
    }
    await until('all operations', () => engines.sum(({ operations }) => operations) >= OPERATIONS, {
      limitMs: LIMIT_MS,
    });
    ends = await engines.end();
    await world.adopt(ENGINES);
    await world.end();
  }, LIMIT_MS);

  it('every kind of operation comes to something, and sessions are cut, too', () => {
    for (const kind of ['granted', 'refused', 'closed', 'born'] as const) {
      expect(engines.sum(({ tally }) => tally[kind])).toBeGreaterThan(OPERATIONS / 100);
    }
    expect(engines.sum(({ tally }) => tally.killed)).toBeGreaterThan(0);
  });

  it('I1, I4, I8, I14: no limit, no day is exceeded, and nothing released over somebody who is open', async () => {
    expect(await violations(test.db)).toEqual([]);
  });

  it('I2, I3, I11: after each kill and in the end accounts say what is reserved, and slates are whole', async () => {
    expect(midst).toEqual([]);
    expect(await disagreements(test.db)).toEqual([]);
  });

  it('I8: nothing is left after the last of a family, whoever took it over', async () => {
    expect(await leftovers(test.db, tenantId)).toBe(0);
  });

  it('I9: nothing dies of a deadlock', async () => {
    expect(engines.errors()).toEqual([]);
    expect(ends).toEqual(ENGINES.map(() => 0));
    expect(await deadlocks(test.db)).toBe(0);
  });
});
