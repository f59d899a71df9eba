/** Grants everything at once, since limits are the cluster's; whom steps select and route to, the test says. */
import { ERROR_CATALOGUE, type ErrorCode } from '../../kernel/index.js';
import type { Gate } from '../machine/inputs.js';
import type { Chosen } from '../machine/selecting.js';

/** What a step asks for. */
export interface AskedChoice {
  readonly kind: 'select' | 'route';
  readonly path: string;
  readonly pool: string;
  readonly routable: unknown;
  /** Recipients at most; null: as many as the pool says. */
  readonly slate: number | null;
  readonly excluded: readonly string[];
}

/** What the test says: whom, or why nobody. */
export type ToldChoice =
  { readonly recipients: readonly Chosen[] } | { readonly code: string; readonly message: string };

/** Says whom a step gets. */
export type Choose = (asked: AskedChoice) => ToldChoice;

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERROR_CATALOGUE, code);

/** The decision as a ROUTE step puts it out. */
function decisionOf({ path, pool }: AskedChoice, recipients: readonly Chosen[]): unknown {
  const assigned = recipients.map((each, index) => ({ ...each, assignment_id: `assignment-${path}-${index}` }));
  return {
    ...{ id: `decision-${path}`, outcome: 'assigned', outcome_class: 'success' },
    slate: recipients.map(({ id, units }) => ({ recipient_id: id, units })),
    assignment_ids: assigned.map(({ assignment_id: id }) => id),
    ...{ pool_id: pool, rule_id: '', routable_id: path, duplicate_of: '', claim_item_id: '' },
    ...{ decided_at: '', recipients: assigned },
  };
}

/** The claim as a CLAIM step puts it out. */
function claimOf(path: string, recipient: Chosen): unknown {
  const ids = { item_id: `decision-${path}`, decision_id: `decision-${path}` };
  return { ...ids, recipient, assignment_id: `assignment-${path}-0` };
}

/** A gate by which the test chooses. */
export function chosenGate(choose: Choose): Gate {
  return {
    ...{ ask: () => 0, release: () => undefined, bear: () => undefined, close: () => undefined },
    withdraw: () => 'ended',
    unqueue: () => 'ended',
    select({ path, pool, routable, slateSize: slate, atLeast }) {
      const told = choose({ kind: 'select', path, pool, routable, slate, excluded: [] });
      if ('code' in told) {
        return {
          kind: 'refused',
          code: isErrorCode(told.code) ? told.code : 'selection_refused',
          message: told.message,
        };
      }
      const { recipients } = told;
      if (recipients.length < atLeast) {
        const message = `the test chooses ${recipients.length} recipients, and at least ${atLeast} are asked for`;
        return { kind: 'refused', code: 'no_eligible_recipient', message };
      }
      return { kind: 'granted', poolId: pool, digest: '', isReused: false, recipients };
    },
    // Nothing waits in a queue: whom the test chooses has it, and what waiting came to is a code that it says.
    route({ path, pool, routable, excluded, until }) {
      const asked: AskedChoice = { kind: 'route', path, pool, routable, slate: null, excluded };
      const told = choose(asked);
      if ('code' in told) return { kind: 'failed', ...told, isRetryable: false };
      const [first] = told.recipients;
      // Whom the test chooses has claimed it at once.
      if (until !== undefined && first !== undefined) return { kind: 'routed', output: claimOf(path, first) };
      if (told.recipients.length > 0) return { kind: 'routed', output: decisionOf(asked, told.recipients) };
      return { kind: 'failed', code: 'no_eligible_recipient', message: 'the test chooses nobody', isRetryable: false };
    },
  };
}

/** Nobody says whom. */
export const NOBODY_CHOOSES: Choose = () => {
  return { code: 'unimplemented', message: 'there are no pools in a test process' };
};
