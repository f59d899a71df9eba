/** Recipients that were chosen, as steps put them out. */
import { everybody, type Decision } from '../../routing/index.js';
import type { Chosen } from '../machine/selecting.js';

/** The slate of a decision, in order. */
export function shownRecipients({ slate, hops }: Decision): readonly Chosen[] {
  const view = hops.at(-1)?.snapshot.view;
  const members = new Map(view === undefined ? [] : everybody(view).map((member) => [member.id, member.scope]));
  const text = (id: string, name: string): string => {
    const value = members.get(id)?.[name];
    return typeof value === 'string' ? value : '';
  };
  return slate.map(({ id, units }) => {
    return { id, name: text(id, 'name'), external_id: text(id, 'external_id'), type: text(id, 'type'), units };
  });
}
