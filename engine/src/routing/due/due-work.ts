/**
 * Whether there is anything to look at: clocks of SLAs, offers, items of claim queues, queues of pools, chains of runs
 * that work ends with. One statement answers for all of them, and is asked once for all who look at about the same
 * time: nodes that have nothing to do send few statements.
 */
import { HAS_DUE_ITEMS } from '../../claims/index.js';
import type { Clock } from '../../kernel/index.js';
import { prepared, type Queryable, type Row } from '../../store/index.js';
import { HAS_DUE_ENDINGS } from '../endings/sql/endings.js';
import { HAS_DUE_QUEUES } from '../queue/sql/pool-queues.js';
import { HAS_DUE_OFFERS } from '../offers/sql/offers.js';
import { HAS_DUE_CLOCKS } from '../sla/sql/clocks.js';

/** What is due. */
interface Due {
  readonly clocks: boolean;
  readonly offers: boolean;
  readonly items: boolean;
  readonly queues: boolean;
  readonly endings: boolean;
}

/** Kinds of work that becomes due. */
export type DueKind = keyof Due;

const ASK = prepared(
  'routing_due_work',
  `select ${HAS_DUE_CLOCKS} as clocks, ${HAS_DUE_OFFERS} as offers, ${HAS_DUE_ITEMS} as items,
    ${HAS_DUE_QUEUES} as queues, ${HAS_DUE_ENDINGS} as endings`,
);

/** See above. */
export class DueWork {
  readonly #db: Queryable;
  readonly #clock: Clock;
  readonly #freshUs: number;
  #asked: { readonly us: number; readonly due: Promise<Due> } | undefined;

  /** @param freshUs how long an answer counts; less than the pause of those who share it. Default: not at all */
  constructor(db: Queryable, clock: Clock, freshUs = 0) {
    this.#db = db;
    this.#clock = clock;
    this.#freshUs = freshUs;
  }

  /** Whether anything of a kind is due, or was when it was asked last and that still counts. */
  async has(kind: DueKind): Promise<boolean> {
    const us = this.#clock.nowUs();
    const known = this.#asked;
    const due = known !== undefined && us >= known.us && us - known.us < this.#freshUs ? known.due : this.#ask(us);
    return (await due)[kind];
  }

  #ask(us: number): Promise<Due> {
    const due = this.#read();
    this.#asked = { us, due };
    // A failure is nobody else's answer.
    due.catch(() => (this.#asked = undefined));
    return due;
  }

  async #read(): Promise<Due> {
    const { rows } = await this.#db.query<Row & Due>(ASK);
    return rows[0] ?? { clocks: false, offers: false, items: false, queues: false, endings: false };
  }
}
