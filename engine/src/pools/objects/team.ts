/** Teams: recipients whose attribute `team` names the same one. Nothing else knows of teams. */

/** Most characters of the name of a team. */
export const MAX_TEAM = 128;

/** Name of the attribute. */
export const TEAM_ATTRIBUTE = 'team';

/**
 * The team that an attribute names.
 *
 * @param value the attribute; anything but a text of 1 to MAX_TEAM characters names none
 * @returns null: whoever has it is in no team
 */
export function teamNamed(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEAM ? value : null;
}
