/** What a draft must be to be kept: it may be incomplete, but not nameless, huge or no definition at all. */
import { DuctorError, type Problem } from '../../kernel/index.js';
import { checkStorable, type Definition } from '../definition/index.js';

/**
 * Throws invalid_definition for a draft that cannot be stored.
 *
 * @param familySlug of the workflow it is for; a slug never changes, because runs and triggers know it
 */
export function checkDraft(draft: Definition, familySlug?: string): void {
  const details: Problem[] = [...checkStorable(draft)];
  if (details.length === 0 && familySlug !== undefined && draft.family_slug !== familySlug) {
    details.push({
      path: 'family_slug',
      value: draft.family_slug,
      problem: `is not ${familySlug}, the slug of this workflow, which cannot change`,
      remedy: 'Keep the slug, or create another workflow.',
    });
  }
  const [first] = details;
  if (first === undefined) return;
  throw new DuctorError('invalid_definition', `${first.path} ${first.problem}`, { details });
}
