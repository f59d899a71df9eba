/** Waves: from when on how many more recipients are offered work that is to be claimed. */
import { z } from 'zod';
import { count, duration, msOf, refuse } from './primitives.js';

const DAY_MS = 86_400_000;

const wave = z.strictObject({ size: count(1, 1000).optional(), after: duration(0, 30 * DAY_MS).optional() });

/** At most 10 waves in the order in which they begin; one without a size takes all who are left: it is the last. */
export const wavesField = z
  .array(wave)
  .max(10)
  .superRefine((waves, context) => {
    const starts = waves.map(({ after }) => msOf(after ?? '0s'));
    if ((starts[0] ?? 0) !== 0) {
      refuse(context, 'would not begin at once', 'Leave after of the first wave out.', [0, 'after']);
    }
    for (const [index, start] of starts.entries()) {
      if (index > 0 && start <= (starts[index - 1] ?? 0)) {
        const remedy = 'Let each wave begin later than the one before: after counts from when the work was queued.';
        refuse(context, 'is not later than the wave before', remedy, [index, 'after']);
      }
    }
    const all = waves.findIndex(({ size }) => size === undefined);
    if (all !== -1 && all < waves.length - 1) {
      refuse(context, 'offers the work to everybody already', 'Give it a size, or let it be the last.', [all]);
    }
  });
