/** What a run of the simulator has to come to when it is asked for with --require, and what one came to. */

/** Figures of many seeds. */
export interface Figures {
  readonly seeds: number;
  readonly events: number;
  readonly virtualMs: number;
  /** Runs that were compared with the machine in one process. */
  readonly compared: number;
  /** How often each kind of fault struck. */
  readonly struck: ReadonlyMap<string, number>;
  readonly kinds: readonly string[];
  /** How often each rare branch was reached. */
  readonly marks: ReadonlyMap<string, number>;
  readonly markNames: readonly string[];
  /** By planted bug: the first seed that caught it; null: none did. */
  readonly bugs: ReadonlyMap<string, number | null>;
  /** The first seed that caught the canary; null: none did. */
  readonly canary: number | null;
  /** Seeds that ran a second time, in another process. */
  readonly again: number;
  /** Of these, those whose trace was another one. */
  readonly differing: number;
}

/** One of the goals. */
export interface Goal {
  readonly what: string;
  readonly wanted: string;
  readonly reached: string;
  readonly isMet: boolean;
}

const MIN_SEEDS = 2_000;
const MIN_EVENTS = 5_000_000;
const MIN_DAYS = 1_000;
const MIN_COMPARED = 20_000;
const MIN_KINDS = 24;
const MIN_STRIKES = 100;
const MIN_MARKS = 60;
const MIN_BUGS = 20;
const MIN_AGAIN = 10;
/** A planted bug has to be caught within so many seeds. */
export const BUG_SEEDS = 500;

const DAY_MS = 86_400_000;

function atLeast(what: string, min: number, reached: number): Goal {
  const told = Number.isInteger(reached) ? `${reached}` : reached.toFixed(1);
  return { what, wanted: `at least ${min}`, reached: told, isMet: reached >= min };
}

function strikes({ kinds, struck }: Figures): Goal {
  const rare = kinds.filter((kind) => (struck.get(kind) ?? 0) < MIN_STRIKES);
  const least = Math.min(...kinds.map((kind) => struck.get(kind) ?? 0));
  const missed = rare.length === 0 ? '' : ` (${rare.join(', ')})`;
  return {
    what: 'times that each kind of fault struck',
    wanted: `at least ${MIN_STRIKES}`,
    reached: `${least}${missed}`,
    isMet: rare.length === 0,
  };
}

function allOf(what: string, min: number, names: readonly string[], missing: readonly string[]): Goal {
  const missed = missing.length === 0 ? '' : ` (not ${missing.join(', ')})`;
  return {
    what,
    wanted: `all of at least ${min}`,
    reached: `${names.length - missing.length} of ${names.length}${missed}`,
    isMet: names.length >= min && missing.length === 0,
  };
}

/** The goals and what was reached of each. */
export function goalsOf(figures: Figures): readonly Goal[] {
  const { marks, markNames, bugs, canary, again, differing } = figures;
  const bugNames = [...bugs.keys()];
  return [
    atLeast('seeds', MIN_SEEDS, figures.seeds),
    atLeast('events', MIN_EVENTS, figures.events),
    atLeast('virtual days', MIN_DAYS, figures.virtualMs / DAY_MS),
    atLeast('runs compared with the machine in one process', MIN_COMPARED, figures.compared),
    atLeast('kinds of faults', MIN_KINDS, figures.kinds.length),
    strikes(figures),
    allOf(
      'rare branches reached',
      MIN_MARKS,
      markNames,
      markNames.filter((mark) => !marks.has(mark)),
    ),
    allOf(
      `planted bugs caught within ${BUG_SEEDS} seeds`,
      MIN_BUGS,
      bugNames,
      bugNames.filter((bug) => bugs.get(bug) === null),
    ),
    {
      what: 'the canary',
      wanted: 'fails with the first seed',
      reached: canary === null ? 'did not fail' : `failed with seed ${canary}`,
      isMet: canary === 1,
    },
    {
      what: 'traces that are the same in two processes',
      wanted: `all of at least ${MIN_AGAIN}`,
      reached: `${again - differing} of ${again}`,
      isMet: again >= MIN_AGAIN && differing === 0,
    },
  ];
}

/** A line for each goal. */
export function goalLines(goals: readonly Goal[]): readonly string[] {
  return goals.map(({ what, wanted, reached, isMet }) => {
    return `  ${isMet ? 'reached' : 'MISSED '}  ${what.padEnd(46)} ${wanted.padEnd(28)} ${reached}`;
  });
}
