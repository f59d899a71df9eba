/** `ductor recipient create` and `ductor recipient update`. */
import {
  CreateRecipientRequest,
  RecipientInput,
  RecipientState,
  type CreateRecipientResponse,
  type UpdateRecipientResponse,
} from '../../gen/ductor/v1/recipient.js';
import { bodyOf, changedBody, type Fields } from '../body.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { changeFromJson, messageFromJson } from '../output/message-json.js';
import { findPoolId } from '../pool/find.js';
import { given } from '../workflow/find-definition.js';
import { printRecipient } from './show.js';

/** Options by which a recipient is made and changed. */
export interface RecipientContentOptions extends ClientOptions {
  readonly file?: string;
  readonly name?: string;
  readonly type?: string;
  readonly externalId?: string;
  readonly state?: string;
  readonly status?: string;
  readonly weight?: number;
  readonly tier?: number;
  readonly maxConcurrent?: number;
  readonly dailyLimit?: number;
  readonly tag?: readonly string[];
  readonly attribute?: Readonly<Record<string, string>>;
  readonly timezone?: string;
}

/** An attribute by its text: true and false, a number, and all else a text. */
function attributeOf(text: string): Fields {
  if (text === 'true' || text === 'false') return { bool_value: text === 'true' };
  // Only what a number would be written as again: "007" is a name.
  return text !== '' && String(Number(text)) === text && Number.isFinite(Number(text))
    ? { number_value: Number(text) }
    : { string_value: text };
}

function fieldsOf(options: RecipientContentOptions): Fields {
  const { name, type, externalId, state, status, weight, tier, tag, attribute = {}, timezone } = options;
  const attributes = Object.entries(attribute).map(([key, value]) => [key, attributeOf(value)] as const);
  return {
    ...{ name, type, external_id: externalId, state, status, weight, tier, tags: tag, timezone },
    ...(attributes.length === 0 ? {} : { attributes: Object.fromEntries(attributes) }),
    'capacity.max_concurrent': options.maxConcurrent,
    'capacity.daily_limit': options.dailyLimit,
  };
}

/** Runs `ductor recipient create`. */
export function createRecipient(
  context: CliContext,
  pool: string,
  name: string | undefined,
  options: RecipientContentOptions,
): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const said = { ...fieldsOf(options), name, pool_id: await findPoolId(engine, pool) };
    const { fields, where } = bodyOf(options.file, said);
    const text = JSON.stringify(fields);
    const request = await messageFromJson('CreateRecipientRequest', CreateRecipientRequest, text, where);
    const { data } = await engine.ask<CreateRecipientResponse>((...rest) =>
      engine.recipients.createRecipient(request, ...rest),
    );
    const recipient = given(data);
    await printRecipient(context, recipient, options);
    if (options.json === true || recipient.state === RecipientState.RECIPIENT_STATE_AVAILABLE) return;
    context.terminal.err(`(it gets no work yet: ductor recipient update ${recipient.id} --state available)\n`);
  });
}

/** Options of `ductor recipient update`. */
export interface UpdateRecipientOptions extends RecipientContentOptions {
  readonly expect?: number;
}

/** Runs `ductor recipient update`. */
export function updateRecipient(
  context: CliContext,
  recipientId: string,
  options: UpdateRecipientOptions,
): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { fields, where } = changedBody(options.file, fieldsOf(options), '--state available');
    const text = JSON.stringify(fields);
    const { message: recipient, updateMask } = await changeFromJson('RecipientInput', RecipientInput, text, where);
    const request = { recipientId, recipient, updateMask, expectedVersion: options.expect ?? 0 };
    const { data } = await engine.ask<UpdateRecipientResponse>((...rest) =>
      engine.recipients.updateRecipient(request, ...rest),
    );
    await printRecipient(context, given(data), options);
  });
}
