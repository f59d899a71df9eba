/** `ductor recipient pause`, `resume` and `delete`. */
import type { Recipient } from '../../gen/ductor/v1/recipient.js';
import type { CallRest, EngineClient } from '../connect/engine-client.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { oneLine } from '../output/safe-text.js';
import { given } from '../workflow/find-definition.js';
import { printRecipient } from './show.js';

/** Options of the commands; only pausing takes a reason, only deleting a version. */
export interface RecipientControlOptions extends ClientOptions {
  readonly reason?: string;
  readonly expect?: number;
}

type Ask = (
  engine: EngineClient,
  request: { readonly recipientId: string; readonly reason: string; readonly expectedVersion: number },
  rest: CallRest<{ data: Recipient | undefined }>,
) => unknown;

/** How each is asked. */
const ASKS = {
  pause: ({ recipients }, { recipientId, reason }, rest) => recipients.pauseRecipient({ recipientId, reason }, ...rest),
  resume: ({ recipients }, { recipientId }, rest) => recipients.resumeRecipient({ recipientId }, ...rest),
  delete: ({ recipients }, { recipientId, expectedVersion }, rest) =>
    recipients.deleteRecipient({ recipientId, expectedVersion }, ...rest),
} satisfies Readonly<Record<string, Ask>>;

/** Runs one of them. */
export function controlRecipient(
  context: CliContext,
  what: keyof typeof ASKS,
  recipientId: string,
  options: RecipientControlOptions,
): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const request = { recipientId, reason: options.reason ?? '', expectedVersion: options.expect ?? 0 };
    const { data } = await engine.ask<{ data: Recipient | undefined }>((...rest) => ASKS[what](engine, request, rest));
    const recipient = given(data);
    if (what === 'delete' && options.json !== true) {
      context.terminal.out(`deleted ${oneLine(recipient.name)} (${recipient.id})\n`);
    } else await printRecipient(context, recipient, options);
  });
}
