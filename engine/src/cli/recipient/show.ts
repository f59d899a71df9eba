/** Recipients as the terminal shows them: `ductor recipient get`. */
import {
  type AttributeValue,
  type GetRecipientResponse,
  Recipient,
  RecipientState,
} from '../../gen/ductor/v1/recipient.js';
import { Status } from '../../gen/ductor/v1/workflow.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { enumWord } from '../enum-option.js';
import { messageToJson } from '../output/message-json.js';
import { type Tone, painter } from '../output/paint.js';
import { oneLine } from '../output/safe-text.js';
import { loadBar, loadText, loadTone } from '../view/load.js';
import { given } from '../workflow/find-definition.js';

const BAR_CHARS = 16;
const TONES: Readonly<Partial<Record<RecipientState, Tone>>> = {
  [RecipientState.RECIPIENT_STATE_AVAILABLE]: 'good',
  [RecipientState.RECIPIENT_STATE_PAUSED]: 'warning',
  [RecipientState.RECIPIENT_STATE_DRAINING]: 'warning',
  [RecipientState.RECIPIENT_STATE_COOLDOWN]: 'bad',
  [RecipientState.RECIPIENT_STATE_OFFLINE]: 'quiet',
};

/** Whether a recipient takes work, in a word. */
export function recipientState({ status, state }: Pick<Recipient, 'status' | 'state'>): {
  readonly text: string;
  readonly tone: Tone;
} {
  if (status !== Status.STATUS_ACTIVE) return { text: enumWord({ ...Status }, 'STATUS_', status), tone: 'quiet' };
  const text = enumWord({ ...RecipientState }, 'RECIPIENT_STATE_', state);
  return { text, tone: TONES[state] ?? 'plain' };
}

/** Units of a recipient, committed and reserved; limits of 0 are none. */
export function unitsOf({ capacity }: Recipient): {
  readonly used: number;
  readonly limit: number;
  readonly today: number;
  readonly daily: number;
} {
  return {
    used: (capacity?.current ?? 0) + (capacity?.held ?? 0),
    limit: capacity?.maxConcurrent ?? 0,
    today: (capacity?.dailyCount ?? 0) + (capacity?.dailyAdmitted ?? 0),
    daily: capacity?.dailyLimit ?? 0,
  };
}

function attributeText(value: AttributeValue): string {
  const { stringValue, numberValue, boolValue, intValue, stringList } = value;
  return String(stringValue ?? numberValue ?? boolValue ?? intValue ?? stringList.join(','));
}

function loadFact(used: number, limit: number, terminal: CliContext['terminal']): string {
  const bar = loadBar(used, limit, BAR_CHARS, terminal.isUnicode);
  const text = limit === 0 ? `${used}, no limit` : loadText(used, limit);
  return bar === '' ? text : `${painter(terminal)(loadTone(used, limit), bar)}  ${text}`;
}

/** Prints a recipient. */
export async function printRecipient(
  { terminal }: CliContext,
  recipient: Recipient,
  { json }: ClientOptions,
): Promise<void> {
  if (json === true) {
    terminal.out(`${await messageToJson('Recipient', Recipient, recipient)}\n`);
    return;
  }
  const { used, limit, today, daily } = unitsOf(recipient);
  const { text, tone } = recipientState(recipient);
  const until = recipient.stateUntil === undefined ? '' : `until ${recipient.stateUntil}`;
  const named = Object.entries(recipient.attributes).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const attributes = named.map(([name, value]) => `${name}=${attributeText(value)}`);
  const texts: readonly (readonly [string, string])[] = [
    ['because', [recipient.stateReason, until].filter((part) => part !== '').join(', ')],
    ['type', `${recipient.type}${recipient.externalId === '' ? '' : ` ${recipient.externalId}`}`],
    ['weight', `${recipient.weight}, tier ${recipient.tier}`],
    ['tags', recipient.tags.join(' ')],
    ['attributes', attributes.join(' ')],
    ['pools', recipient.memberships.map(({ poolId }) => poolId).join(' ')],
    ['version', String(recipient.recordVersion)],
  ];
  const facts = [
    ...[['at once', loadFact(used, limit, terminal)] as const, ['today', loadFact(today, daily, terminal)] as const],
    ...texts.filter(([, fact]) => fact !== '').map(([name, fact]) => [name, oneLine(fact)] as const),
  ];
  const lines = facts.map(([name, fact]) => `  ${name.padEnd(10)}  ${fact}\n`);
  terminal.out(`${oneLine(recipient.name)}  ${painter(terminal)(tone, text)}  ${recipient.id}\n${lines.join('')}`);
}

/** Runs the command. */
export function getRecipient(context: CliContext, recipientId: string, options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { data } = await engine.ask<GetRecipientResponse>((...rest) =>
      engine.recipients.getRecipient({ recipientId }, ...rest),
    );
    await printRecipient(context, given(data), options);
  });
}
