/** Judges reservations and accounts. Pure. */
import type { CapacityDefect } from '../../workflow/index.js';
import { counted, fail, ok, type Finding } from './finding.js';

const REMEDY = 'File an issue with the runs and recipients that are named: this must not happen.';

function named(ids: readonly string[]): string {
  return `, for example ${ids.slice(0, 3).join(', ')}`;
}

/** Findings about what workflows hold. */
export function judgeCapacity(defects: readonly CapacityDefect[]): readonly Finding[] {
  const of = (kind: 'not_released' | 'seat_left'): readonly string[] =>
    defects.flatMap((each) => (each.kind === kind ? [`${each.recipientId} by ${each.runId}`] : []));
  const left = of('not_released');
  const seats = of('seat_left');
  const drifted = defects.flatMap((each) => {
    return each.kind === 'drift' ? [`${each.recipientId} (${each.says} for ${each.reserved})`] : [];
  });
  return [
    left.length === 0
      ? ok('capacity.released', 'nothing is held for runs that have ended')
      : fail(
          'capacity.released',
          `${counted(left.length, 'reservation')} of runs that have ended with all their descendants${named(left)}`,
          'These recipients have less room than they should.',
          REMEDY,
        ),
    seats.length === 0
      ? ok('capacity.seats', 'no seat is kept for runs that have ended')
      : fail(
          'capacity.seats',
          `${counted(seats.length, 'seat')} of families that have ended${named(seats)}`,
          'Whoever comes next is kept from them, or finds them taken.',
          'A node ends them each minute; if none does, POST /api/routing/seats:release {"owner": RUN_ID} ends them.',
        ),
    drifted.length === 0
      ? ok('capacity.accounts', 'every account says what is reserved')
      : fail(
          'capacity.accounts',
          `${counted(drifted.length, 'account')} that say another number than is reserved${named(drifted)}`,
          'Their recipients are admitted too much or too little.',
          REMEDY,
        ),
  ];
}
