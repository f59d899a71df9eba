/** Why one recipient did not get work, in numbers. */
import { DuctorError } from '../../kernel/index.js';
import type { Admission } from '../authority/decide.js';

/**
 * recipient_capacity_exhausted with the numbers of its recipient, or capacity_authority_unavailable.
 *
 * @param name of what was to be admitted, for the message
 */
export function notAdmitted(name: string, admission: Exclude<Admission, { kind: 'granted' }> | undefined): DuctorError {
  const [decided] = admission?.kind === 'refused' ? admission.decided : [];
  if (decided === undefined) {
    return new DuctorError('capacity_authority_unavailable', `${name}: nothing is counted for its recipient`);
  }
  const { used, limit, usedToday, dailyLimit, units } = decided;
  const day = dailyLimit === 0 ? '' : `, ${usedToday} of ${dailyLimit} today`;
  const text = `${name} needs ${units} units of recipient ${decided.recipientId}, which has ${used} of ${limit} in use`;
  return new DuctorError('recipient_capacity_exhausted', `${text}${day}`);
}
