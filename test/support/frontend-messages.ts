/**
 * Cuts what a PostgreSQL client sends into messages (protocol 3.0, "Message Formats" in PostgreSQL's documentation):
 * one byte of type and four of length; the first message of a connection has no type.
 */

/** A whole message. */
export interface FrontendMessage {
  /** Letter of its type; "" for the first one. */
  readonly type: string;
  readonly bytes: Buffer;
}

const FIRST_HEADER = 4;
const HEADER = 5;

/** Takes bytes as they come, gives whole messages. */
export class FrontendMessages {
  #rest: Buffer = Buffer.alloc(0);
  #isFirst = true;

  /** The messages that these bytes completed. */
  push(bytes: Buffer): FrontendMessage[] {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const messages: FrontendMessage[] = [];
    for (let message = this.#take(); message !== undefined; message = this.#take()) messages.push(message);
    return messages;
  }

  #take(): FrontendMessage | undefined {
    const header = this.#isFirst ? FIRST_HEADER : HEADER;
    if (this.#rest.length < header) return undefined;
    // The length counts itself but not the type.
    const size = this.#rest.readInt32BE(header - 4) + header - 4;
    if (this.#rest.length < size) return undefined;
    const bytes = this.#rest.subarray(0, size);
    this.#rest = this.#rest.subarray(size);
    const type = this.#isFirst ? '' : String.fromCharCode(bytes.readUInt8(0));
    this.#isFirst = false;
    return { type, bytes };
  }
}

/** Name of the prepared statement that a Bind message ("B") runs; undefined for other messages. */
export function boundStatement({ type, bytes }: FrontendMessage): string | undefined {
  if (type !== 'B') return undefined;
  const portalEnd = bytes.indexOf(0, HEADER);
  return bytes.toString('utf8', portalEnd + 1, bytes.indexOf(0, portalEnd + 1));
}
