/** Three nodes that share nothing but a database, whose claims are called in process while their sessions are cut. */
import { beforeAll, expect } from 'vitest';
import { memoryBus } from '../../engine/src/bus/index.js';
import { createCelCompiler } from '../../engine/src/expressions/index.js';
import { DuctorError, sleep, systemClock, systemRandom, uuidV7 } from '../../engine/src/kernel/index.js';
import { createRouting, type Routing } from '../../engine/src/routing/index.js';
import type { TestDatabase } from '../../engine/src/store/testing/index.js';

const NODES = 3;
const CUTS = 30;
/** How often a call whose answer was lost is made again. */
const TURNS = 50;

/** See above. */
export class ClaimWorld {
  readonly clock = systemClock();
  readonly #random = systemRandom();
  readonly tenantId = this.#newId();
  readonly by = { tenantId: this.tenantId, principalId: this.#newId(), name: 'test', scopes: new Set<never>() };
  readonly caller = { by: this.by, method: 'test' };
  #nodes: readonly Routing[] = [];

  constructor(readonly test: TestDatabase) {
    beforeAll(() => {
      this.#nodes = Array.from({ length: NODES }, () => this.node());
    });
  }

  /** One node more. */
  node(): Routing {
    return createRouting({
      ...{ db: this.test.db, cel: createCelCompiler(), clock: this.clock, bus: memoryBus(this.clock) },
      ...{ newId: () => this.#newId(), seedKey: new Uint8Array(32), engine: { version: 'test', tzdb: '' } },
    });
  }

  /** The nodes by turns. */
  nodeOf(number: number): Routing {
    return this.#nodes[number % NODES] ?? expect.unreachable('no node');
  }

  /**
   * What a call came to: 'ok' or its code. One whose answer was lost is made again, at another node.
   *
   * @param codeOf what is answered for an error; default: its code
   */
  async certain(
    work: (turn: number) => Promise<unknown>,
    codeOf: (error: DuctorError) => string = ({ code }) => code,
  ): Promise<string> {
    for (let turn = 0; ; turn += 1) {
      try {
        await work(turn);
        return 'ok';
      } catch (error) {
        const isDecided = error instanceof DuctorError && error.code !== 'capacity_authority_unavailable';
        if (isDecided && error.code !== 'database_unavailable') return codeOf(error);
        if (turn > TURNS) throw error;
      }
    }
  }

  /** Cuts sessions of the nodes while work goes on, whose statement is like this. Returns how many it cut. */
  async cut(isOver: () => boolean, { everyMs, like }: { everyMs: number; like: string }): Promise<number> {
    let cuts = 0;
    while (!isOver() && cuts < CUTS) {
      await sleep(this.clock, everyMs);
      const { rows } = await this.test.db.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and query like $1 limit 1`,
        [like],
      );
      cuts += rows.length;
    }
    return cuts;
  }

  #newId(): string {
    return uuidV7(this.clock.nowUs(), this.#random);
  }
}
