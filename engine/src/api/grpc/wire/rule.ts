/** Rules as messages. */
import { Rule as RuleMessage } from '../../../gen/ductor/v1/rule.js';
import type { Rule } from '../../../routing/index.js';
import { contractJson } from '../../json/contract-json.js';
import { timestampOf } from './timestamp.js';

/** A rule as a message. */
export function ruleMessage({ id, version, fields, createdAtUs, updatedAtUs }: Rule): RuleMessage {
  const json = { ...fields, id, record_version: version };
  const message = RuleMessage.decode(contractJson().encode('Rule', JSON.parse(JSON.stringify(json))));
  message.createdAt = timestampOf(createdAtUs);
  message.updatedAt = timestampOf(updatedAtUs);
  return message;
}
