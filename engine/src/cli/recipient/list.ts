/** `ductor recipient list`. */
import { ListRecipientsResponse, type Recipient, RecipientState } from '../../gen/ductor/v1/recipient.js';
import { Status } from '../../gen/ductor/v1/workflow.js';
import { type CliContext, withEngine } from '../context.js';
import { type PageOptions, printPage, wantedPage } from '../list-page.js';
import type { Cell } from '../output/table.js';
import { findPoolId } from '../pool/find.js';
import { loadText, loadTone } from '../view/load.js';
import { recipientState, unitsOf } from './show.js';

/** Options of the command. */
export interface ListRecipientsOptions extends PageOptions {
  readonly state?: keyof typeof RecipientState;
  readonly status?: keyof typeof Status;
}

function rowOf(recipient: Recipient): readonly Cell[] {
  const { used, limit, today, daily } = unitsOf(recipient);
  return [
    ...[recipient.name, recipientState(recipient)],
    { text: loadText(used, limit), tone: loadTone(used, limit) },
    { text: loadText(today, daily), tone: loadTone(today, daily) },
    ...[String(recipient.weight), recipient.id, recipient.tags.join(' ')],
  ];
}

/** Runs the command. */
export function listRecipients(context: CliContext, pool: string, options: ListRecipientsOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const request = {
      ...{ poolId: await findPoolId(engine, pool), pagination: wantedPage(options) },
      state: RecipientState[options.state ?? 'RECIPIENT_STATE_UNSPECIFIED'],
      status: Status[options.status ?? 'STATUS_UNSPECIFIED'],
    };
    const page = await engine.ask<ListRecipientsResponse>((...rest) =>
      engine.recipients.listRecipients(request, ...rest),
    );
    const look = {
      ...{ name: 'ListRecipientsResponse', encoder: ListRecipientsResponse, none: 'There is no such recipient.' },
      ...{ header: ['RECIPIENT', 'STATE', 'LOAD', 'TODAY', 'WEIGHT', 'ID', 'TAGS'], row: rowOf },
    };
    await printPage(context, options, look, page);
  });
}
