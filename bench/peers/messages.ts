/** What the bench and its processes say to each other over IPC. */
import { z } from 'zod';
import { KINDS } from './kinds.js';
import { PEER_NAMES } from './peer-names.js';

/** A closed loop: so many callers, each starting its next run when its last is done, for a time or a number of runs. */
const loopOrder = z.object({
  do: z.literal('loop'),
  what: z.enum(['run', 'start']),
  kind: z.enum(KINDS),
  callers: z.number(),
  /** Stops starting after so many s. */
  seconds: z.number().optional(),
  /** Stops after so many runs. */
  count: z.number().optional(),
  /** Given to every run; default: its number. */
  n: z.number().optional(),
});

const profileStart = z.object({ do: z.literal('profile-start') });
const profileStop = z.object({ do: z.literal('profile-stop'), file: z.string() });

/** What the profiler of a process may be asked for. */
export const profileOrder = z.discriminatedUnion('do', [profileStart, profileStop]);

/** What the profiler of a process may be asked for. */
export type ProfileOrder = z.output<typeof profileOrder>;

/** What a process may be asked for. */
export const order = z.discriminatedUnion('do', [
  profileStart,
  profileStop,
  z.object({ do: z.literal('side'), peer: z.enum(PEER_NAMES) }),
  z.object({ do: z.literal('prepare') }),
  z.object({ do: z.literal('work'), slots: z.number() }),
  z.object({ do: z.literal('open'), via: z.enum(['direct', 'queue', 'later']) }),
  loopOrder,
  z.object({ do: z.literal('lateness') }),
  z.object({ do: z.literal('finished') }),
  z.object({ do: z.literal('close') }),
]);

/** What a process may be asked for. */
export type Order = z.output<typeof order>;

/** A closed loop. */
export type LoopOrder = z.output<typeof loopOrder>;

/** How a closed loop went. */
export const loopResult = z.object({
  /** Runs done. */
  runs: z.number(),
  /** From the first start to the last end, s. */
  seconds: z.number(),
  /** Latency of a run, ms; NaN when none was done. */
  p50: z.number(),
  p99: z.number(),
});

/** How a closed loop went. */
export type LoopResult = z.output<typeof loopResult>;

/** An order on the wire. */
export const request = z.object({ id: z.number(), order: z.unknown() });

/** An answer on the wire. */
export const reply = z.object({ id: z.number(), value: z.unknown().optional(), error: z.string().optional() });
