/** What stands for pools in a test: whom steps select and route to. */
import { DuctorError } from '../errors.js';
import type { SelectedRecipient } from '../workflow/select-step.js';
import type { MachineChoose } from './machine-port.js';

/** What a step asks its pool for. */
export interface FakeAsk {
  readonly pool: string;
  /** As the step computes it. */
  readonly routable: unknown;
  /** Recipients at most; null: as many as the pool says, or of a step that routes. */
  readonly slate: number | null;
  /** Recipients that must not get it. */
  readonly excluded: readonly string[];
}

/** Recipients by id, or with more that is to be seen of them; of what is not said the usual. */
export type FakeRecipients = readonly (string | Partial<SelectedRecipient>)[];

/**
 * Whom steps select and route to, by the name of the step. A function may throw a DuctorError: its code is that of the
 * step's error (`recipient_capacity_exhausted`, `pool_closed`). Nobody is `no_eligible_recipient`.
 */
export type FakeRouting = Readonly<Record<string, FakeRecipients | ((ask: FakeAsk) => FakeRecipients)>>;

function recipientOf(given: string | Partial<SelectedRecipient>): SelectedRecipient {
  const told = typeof given === 'string' ? { id: given } : given;
  const id = told.id ?? told.name ?? '';
  return { id, name: id, external_id: '', type: 'agent', units: 1, ...told };
}

/** Says whom steps get; a step that nothing is said of is refused, and told how to say it. */
export function fakeChoice(fakes: FakeRouting = {}): MachineChoose {
  return ({ path, kind, ...ask }) => {
    const ref = path.slice(path.lastIndexOf('/') + 1);
    const fake = fakes[ref];
    if (fake === undefined) {
      const example = `routing: { ${JSON.stringify(ref)}: ['ada'] }`;
      return { code: 'unimplemented', message: `a test has no pools: say whom ${ref} is to ${kind}: ${example}` };
    }
    try {
      const recipients = (typeof fake === 'function' ? fake(ask) : fake).map(recipientOf);
      return { recipients: ask.slate === null ? recipients : recipients.slice(0, ask.slate) };
    } catch (error) {
      if (error instanceof DuctorError) return { code: error.code, message: error.message };
      throw error;
    }
  };
}
