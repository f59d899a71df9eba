/** The mailbox in Postgres, over pooled sessions. */
import type { Database } from '../../store/index.js';
import type { InboxStore } from '../coordinator/ports.js';
import { readInbox } from './read-inbox.js';
import { sendInbox } from './send-inbox.js';

/** The mailbox of the database. */
export function postgresInboxStore(db: Database): InboxStore {
  return {
    send: (messages) => sendInbox(db, messages),
    read: (shards, limit) => readInbox(db, shards, limit),
  };
}
