/** What parked a run, told apart from what parked others: pure, of the state alone. */
import { sha256Hex } from '../../kernel/index.js';
import { isClosed } from './queries.js';
import type { RunState } from './state.js';

/** Why a run is parked, and what runs that were parked alike have in common. */
export interface DeadLetter {
  /** 16 hexadecimal digits: the same for runs of one workflow, step, reason and code of error. */
  readonly fingerprint: string;
  readonly familySlug: string;
  /** Path of the step without the numbers of items and iterations; empty: none parked it. */
  readonly step: string;
  /** Why it was parked. */
  readonly reason: string;
  /** Code of the step's last error; empty: it has none. */
  readonly errorCode: string;
  readonly message: string;
  readonly runId: string;
  /** Microseconds since 1970. */
  readonly parkedAtUs: number;
}

/** The dead letter of a run; undefined when it is not parked. */
export function deadLetterOf(state: RunState): DeadLetter | undefined {
  const { parked, familySlug, runId } = state;
  if (parked === null || isClosed(state)) return undefined;
  const error = parked.step === '' ? undefined : state.steps.get(parked.step)?.error;
  const step = parked.step.replaceAll(/\[\d+\]/g, '[]');
  const errorCode = error?.code ?? '';
  const fingerprint = sha256Hex([familySlug, step, parked.code, errorCode].join('\n')).slice(0, 16);
  const parkedAtUs = state.heldSinceUs ?? state.atUs;
  const message = error?.message ?? parked.message;
  return { fingerprint, familySlug, step, reason: parked.code, errorCode, message, runId, parkedAtUs };
}

/** Dead letters of one fingerprint. */
export interface DeadLetterGroup extends Omit<DeadLetter, 'parkedAtUs'> {
  readonly count: number;
  readonly firstParkedAtUs: number;
  readonly lastParkedAtUs: number;
}

/** Dead letters by their fingerprints, the largest group first; message and run are those of the last one. */
export function groupDeadLetters(letters: readonly DeadLetter[]): readonly DeadLetterGroup[] {
  const groups = new Map<string, DeadLetterGroup>();
  for (const { parkedAtUs, ...letter } of letters) {
    const known = groups.get(letter.fingerprint);
    const latest = known !== undefined && known.lastParkedAtUs > parkedAtUs ? known : letter;
    groups.set(letter.fingerprint, {
      ...latest,
      count: (known?.count ?? 0) + 1,
      firstParkedAtUs: Math.min(known?.firstParkedAtUs ?? parkedAtUs, parkedAtUs),
      lastParkedAtUs: Math.max(known?.lastParkedAtUs ?? parkedAtUs, parkedAtUs),
    });
  }
  return [...groups.values()].sort((a, b) => b.count - a.count || (a.fingerprint < b.fingerprint ? -1 : 1));
}
