/** What a run says to others, as it goes into their mailboxes. */
import type { RunMessage } from '../machine/inputs.js';
import type { InboxMessage, RunKey } from './ports.js';
import { encodeInput } from './run-logic.js';

/** Messages of a run; the start of a child that may hold something names its family. */
export function outgoing({ tenantId }: RunKey, messages: readonly RunMessage[]): readonly Omit<InboxMessage, 'id'>[] {
  return messages.map(({ runId, input }) => {
    const family = input.kind === 'start' ? input.birth?.family : undefined;
    const held = family?.mayHold === true ? { familyId: family.rootId } : {};
    return { tenantId, runId, kind: input.kind, body: encodeInput(input), ...held };
  });
}
