/** The command line of the simulator. */
import { parseArgs } from 'node:util';
import { DuctorError } from '../../../engine/src/kernel/index.js';

/** What was asked for. */
export interface CommandOptions {
  /** One seed to be looked at; null: many. */
  readonly seed: number | null;
  readonly seeds: number;
  readonly from: number;
  readonly jobs: number;
  readonly isTraced: boolean;
  /** Failing seeds are added to kept-seeds.json. */
  readonly keeps: boolean;
  /** Planted bugs are hunted, too. */
  readonly hunts: boolean;
  /** It fails when a goal is missed (goals.ts). */
  readonly requires: boolean;
  /** A planted bug in every engine of `seed`. */
  readonly bug: string | null;
  readonly without: readonly string[];
}

/** The words of the command line and what they mean. */
export const USAGE = `npm run simulate -- [options]
  --seeds N        runs so many seeds, the kept ones and the planted bugs (default 500)
  --from N         the first seed (default 1)
  --seed N         runs one seed and shows its end
  --trace          shows every event of that seed
  --without A,B    leaves kinds of faults out of that seed
  --bug NAME       plants a bug in that seed
  --jobs N         processes (default 2)
  --no-planted     does not hunt planted bugs
  --require        fails when a goal is missed: seeds, events, virtual days, faults, branches, bugs, canary, traces
  --keep           adds seeds that fail to test/simulation/kept-seeds.json`;

function whole(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new DuctorError('invalid_argument', `--${name} takes a whole number, not ${text}`);
}

/** Reads the command line. Throws invalid_argument. */
export function readOptions(args: readonly string[]): CommandOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string' },
      seeds: { type: 'string', default: '500' },
      from: { type: 'string', default: '1' },
      jobs: { type: 'string', default: '2' },
      trace: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      require: { type: 'boolean', default: false },
      'no-planted': { type: 'boolean', default: false },
      bug: { type: 'string' },
      without: { type: 'string', default: '' },
    },
  });
  return {
    seed: values.seed === undefined ? null : whole('seed', values.seed),
    seeds: whole('seeds', values.seeds),
    from: whole('from', values.from),
    jobs: Math.max(1, whole('jobs', values.jobs)),
    isTraced: values.trace,
    keeps: values.keep,
    hunts: !values['no-planted'],
    requires: values.require,
    bug: values.bug ?? null,
    without: values.without.split(',').filter((kind) => kind !== ''),
  };
}
