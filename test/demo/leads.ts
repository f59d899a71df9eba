/** The leads of the demo and the effects each of them must have. */
import type { Expected } from './ledger-check.js';

/** A lead, as the app's form sends it. */
export interface DemoLead {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly amount: number;
}

const NAMES = ['Ada', 'Grace', 'Edsger', 'Barbara', 'Tony', 'Leslie', 'Frances', 'Donald', 'Radia', 'Ken'];
const STATES = ['CA', 'NV', 'TX', 'FL', 'NY', 'MA'];
const EFFECTS = ['enrich', 'notify'];

/** So many leads, always the same ones. */
export function demoLeads(count: number): readonly DemoLead[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `lead-${String(index + 1).padStart(2, '0')}`,
    name: NAMES[index % NAMES.length] ?? '',
    state: STATES[index % STATES.length] ?? '',
    amount: 5_000 + ((index * 7_919) % 45_000),
  }));
}

/** The effects these leads have when each run did everything once. */
export function expectedEffects(leads: readonly DemoLead[]): readonly Expected[] {
  return leads.flatMap(({ id }) => EFFECTS.map((effect) => ({ effect, lead: id })));
}
