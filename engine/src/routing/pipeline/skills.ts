/** Skills of a recipient, out of its tags and attributes: whoever has it says so in the way that is at hand. */
import type { RecipientFields } from '../../pools/index.js';

/** Level of a skill that is simply there. */
const FULL = 5;

/** Levels are 1 to 5; a number above counts as 5, one below 1 as not having it. */
function levelOf(value: number): number {
  return Math.max(0, Math.min(FULL, Math.floor(value)));
}

/**
 * The skills and their levels, 1 to 5. A tag is a skill of level 5; so is each entry of the list attribute `skills`,
 * the text of the attribute `skill`, and an attribute that is true. An attribute that is a number is a skill of that
 * level.
 */
export function skillsOf({
  tags,
  attributes,
}: Pick<RecipientFields, 'tags' | 'attributes'>): ReadonlyMap<string, number> {
  const skills = new Map<string, number>(tags.map((tag) => [tag, FULL]));
  for (const [name, value] of Object.entries(attributes)) {
    const level = value.bool_value === true ? FULL : levelOf(value.number_value ?? value.int_value ?? 0);
    if (level > 0) skills.set(name, level);
  }
  for (const name of attributes['skills']?.string_list ?? []) skills.set(name, FULL);
  const single = attributes['skill']?.string_value;
  if (single !== undefined && single !== '') skills.set(single, FULL);
  return skills;
}
