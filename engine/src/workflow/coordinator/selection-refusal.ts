/** Why a decision gives a SELECT step nothing: in codes that its edges can tell apart. */
import type { ErrorCode } from '../../kernel/index.js';
import type { Decision, Hop } from '../../routing/index.js';
import type { Selected, Selecting } from '../machine/selecting.js';

const FULL: ReadonlySet<string> = new Set(['at_concurrency', 'at_daily']);

/** Members that nothing stands against but that they are full, as far as Filter can tell. */
function fullIn({ filtered }: Hop): number {
  const looked = filtered?.looked ?? [];
  return looked.filter(({ verdicts }) => verdicts.length > 0 && verdicts.every(({ code }) => FULL.has(code))).length;
}

type Refused = Selected & { readonly kind: 'refused' };

function refused(code: ErrorCode, message: string): Refused {
  return { kind: 'refused', code, message };
}

/** The members that were refused, with their numbers. */
export function numbersOf({ attempts }: Hop): string {
  const admission = attempts.at(-1)?.admission;
  if (admission?.kind !== 'refused') return '';
  const full = admission.usage.filter(({ units, used, limit, usedToday, dailyLimit }) => {
    return (limit > 0 && used + units > limit) || (dailyLimit > 0 && usedToday + units > dailyLimit);
  });
  const texts = full.map(({ id, units, used, limit, usedToday, dailyLimit }) => {
    const now = limit === 0 ? '' : ` ${used} of ${limit} in use`;
    const today = dailyLimit === 0 ? '' : `${now === '' ? '' : ','} ${usedToday} of ${dailyLimit} today`;
    return `recipient ${id} has${now}${today} and is asked for ${units}`;
  });
  return texts.length === 0 ? '' : `: ${texts.join('; ')}`;
}

/** Too few to choose from: for want of room, or for want of recipients. */
function tooFew(hop: Hop | undefined, { atLeast }: Selecting): Refused {
  const found = hop?.attempts.at(-1)?.selection.slate.length ?? 0;
  const full = hop === undefined ? 0 : fullIn(hop);
  if (full > 0) {
    const what = found === 0 ? 'every recipient that could be chosen' : `${full} recipients that could be chosen`;
    const missing = atLeast > 1 ? `; ${found} of at least ${atLeast} are left` : '';
    return refused('recipient_capacity_exhausted', `${what} of the pool is full${missing}`);
  }
  return refused(
    'no_eligible_recipient',
    `the pool has ${found} eligible recipients, and at least ${atLeast} are asked for`,
  );
}

/** The refusal, which names the decision; undefined when the slate is to be held. */
export function refusedBy(decision: Decision, selecting: Selecting): Selected | undefined {
  if (decision.outcome === 'assigned') return undefined;
  const { code, message } = refusal(decision, selecting);
  return refused(code, `${message} (decision ${decision.input.decisionId})`);
}

function refusal(decision: Decision, selecting: Selecting): Refused {
  const { outcome, reason, hops, poolId, retryAtUs } = decision;
  const last = hops.at(-1);
  const pool = poolId === undefined ? '' : ` in pool ${poolId}`;
  switch (outcome) {
    case 'recipient_capacity_exhausted':
      return refused(
        'recipient_capacity_exhausted',
        `there is no room${pool}${last === undefined ? '' : numbersOf(last)}`,
      );
    case 'capacity_authority_unavailable':
      return refused('capacity_authority_unavailable', `what counts capacity${pool} could not be used`);
    case 'all_cooling_down': {
      const until = retryAtUs === undefined ? '' : ` until ${new Date(retryAtUs / 1000).toISOString()}`;
      return refused('no_eligible_recipient', `every recipient that could be chosen${pool} is rate limited${until}`);
    }
    case 'no_eligible_recipient':
      return tooFew(last, selecting);
    case 'queued':
    case 'queued_for_claim':
      return refused('unimplemented', `the selection came to ${outcome}${pool}, and a SELECT step does not wait`);
    default:
      return refused('selection_refused', `the selection came to ${reason ?? outcome}${pool}`);
  }
}
