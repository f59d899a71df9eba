/** The command line of `npm run bench`. */
import { parseArgs } from 'node:util';
import { WORKLOAD_IDS, type WorkloadId } from './workload-ids.js';
import { PEER_NAMES, type PeerName } from './peer-names.js';

/** What to measure and how. */
export interface BenchOptions {
  readonly workloads: readonly WorkloadId[];
  /** Ductor first. */
  readonly peers: readonly PeerName[];
  /** Length of a closed loop, s. */
  readonly seconds: number;
  /** Length of the warm-up before it, s. */
  readonly warmSeconds: number;
  readonly reps: number;
  /** Cores other programs may use before a repetition is done again. */
  readonly foreignMax: number;
  /** Factor on the fixed sizes: 1,000 timers, 10,000 sleepers, 5,000 stored runs, 200 runs of W6. */
  readonly scale: number;
  readonly profile: boolean;
  readonly skipBuild: boolean;
  /** Where databases and logs live while it runs; undefined: bench/.ductor. */
  readonly dataDir: string | undefined;
}

/** What --help prints. */
export const USAGE = `npm run bench -- [options]

  --only w1,w4       workloads, or the beginnings of their names (default: all)
                     ${WORKLOAD_IDS.join(', ')}
  --peers a,b        beside Ductor: dbos, restate (default: both; "none" for Ductor alone)
  --seconds 5        length of a closed loop
  --warm 2           seconds of warm-up before it
  --reps 3           repetitions; the table shows medians
  --foreign 0.45     cores that other programs may use before a repetition is done again (4 times at most)
  --scale 1          factor on timers, sleepers, stored runs and runs of W6
  --profile          one more repetition of each workload of Ductor, with CPU profiles of its processes
  --skip-build       take what is compiled already
  --data-dir folder  for databases and logs while it runs (default: bench/.ductor); must be a real disk

DATABASE_URL names the PostgreSQL server that Ductor and DBOS share; the role must be allowed to create databases.
Without it an embedded server is started.
`;

/** The command line is wrong; the message says how. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Reads the command line; undefined when help was asked for. Throws UsageError. */
export function readOptions(args: readonly string[]): BenchOptions | undefined {
  const { values } = parsed(args);
  if (values.help === true) return undefined;
  return {
    workloads: workloadsOf(values.only),
    peers: peersOf(values.peers),
    seconds: positive('--seconds', values.seconds, 5),
    warmSeconds: positive('--warm', values.warm, 2),
    reps: Math.ceil(positive('--reps', values.reps, 3)),
    foreignMax: positive('--foreign', values.foreign, 0.45),
    scale: positive('--scale', values.scale, 1),
    profile: values.profile === true,
    skipBuild: values['skip-build'] === true,
    dataDir: values['data-dir'],
  };
}

function parsed(args: readonly string[]): ReturnType<typeof parse> {
  try {
    return parse(args);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

// The return type follows from the options, so that each value has its own.
function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      peers: { type: 'string' },
      seconds: { type: 'string' },
      warm: { type: 'string' },
      reps: { type: 'string' },
      foreign: { type: 'string' },
      scale: { type: 'string' },
      profile: { type: 'boolean' },
      'skip-build': { type: 'boolean' },
      'data-dir': { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
}

function workloadsOf(text: string | undefined): readonly WorkloadId[] {
  if (text === undefined) return WORKLOAD_IDS;
  const wanted = text.split(',');
  const unknown = wanted.filter((each) => each === '' || !WORKLOAD_IDS.some((id) => id.startsWith(each)));
  if (unknown.length > 0) throw new UsageError(`no workload begins with ${JSON.stringify(unknown[0])}`);
  return WORKLOAD_IDS.filter((id) => wanted.some((each) => id.startsWith(each)));
}

function peersOf(text: string | undefined): readonly PeerName[] {
  if (text === undefined) return PEER_NAMES;
  const wanted = text === 'none' ? [] : text.split(',');
  const unknown = wanted.find((each) => !PEER_NAMES.some((name) => name === each));
  if (unknown !== undefined) throw new UsageError(`${JSON.stringify(unknown)} is no peer of this bench`);
  return PEER_NAMES.filter((name) => name === 'ductor' || wanted.includes(name));
}

function positive(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new UsageError(`${name} takes a positive number, not ${JSON.stringify(text)}`);
}
