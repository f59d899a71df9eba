/** A tenant's objects as a bundle: in names, without what is live. */
import { DuctorError } from '../../kernel/index.js';
import type { RecipientFields } from '../../pools/index.js';
import type { Bundle, JsonObject, Whole } from './bundle.js';
import { unclearRecipients } from './identify.js';
import { namedAlone, namedRecipient, namesOf, toNames } from './names.js';
import { mapReferences } from './references.js';

/** The fields that are written, without the membership that the primary pool brings by itself. */
function written({
  state: _state,
  state_reason: _reason,
  state_until: _until,
  ...fields
}: RecipientFields): JsonObject {
  const [first, ...others] = fields.memberships;
  const isBare = first !== undefined && first.pool_id === fields.pool_id && Object.keys(first).length === 1;
  return { ...fields, memberships: isBare ? others : fields.memberships };
}

/** The bundle. Throws bundle_ambiguous when it could not tell recipients apart. */
export function exportBundle({ pools, recipients, rules, claim_queues: queues }: Whole): Bundle {
  const [unclear] = unclearRecipients(recipients);
  if (unclear !== undefined) {
    const message = `several recipients without an external_id are called ${JSON.stringify(unclear)}`;
    throw new DuctorError('bundle_ambiguous', message);
  }
  const names = namesOf(
    pools.map(({ id, fields }) => namedAlone(id, fields)),
    recipients.map(({ id, fields }) => namedRecipient(id, fields)),
    queues.map(({ id, fields }) => namedAlone(id, fields)),
  );
  const refer = toNames(names);
  return {
    pools: pools.map(({ fields }) => mapReferences('pool', fields, refer)),
    recipients: recipients.map(({ fields }) => mapReferences('recipient', written(fields), refer)),
    rules: rules.map(({ fields }) => mapReferences('rule', fields, refer)),
    claim_queues: queues.map(({ fields }) => mapReferences('claim_queue', { ...fields }, refer)),
  };
}
