/**
 * Unary gRPC calls for benches, written as frames of HTTP/2 (RFC 9113) straight to a socket: a call costs the caller
 * some 20 us where the client of a library takes 400, more than the node that is to be measured, on the same cores.
 *
 * Headers are the same for all calls of a path, so they are put together once, as literals (RFC 7541, 6.2.2); the
 * peer is told to index nothing, and its headers are not read: an answer without a message is a refusal.
 */
import { connect, type Socket } from 'node:net';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const HEADER_BYTES = 9;
const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const PING = 6;
const GOAWAY = 7;
const WINDOW_UPDATE = 8;
const END_STREAM = 1;
const END_HEADERS = 4;
const ACK = 1;
/** Room for answers: of a stream, and of the connection until it is topped up. */
const WINDOW = 0x3fff_ffff;
const TOP_UP = 0x1000_0000;

function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A text of HPACK, not compressed; shorter than 127 bytes, or with a length of more bytes. */
function hpackText(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length: number[] = [Math.min(127, bytes.length)];
  if (bytes.length >= 127) {
    let rest = bytes.length - 127;
    for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128);
    length.push(rest);
  }
  return Buffer.concat([Buffer.from(length), bytes]);
}

function hpackHeaders(path: string, authority: string, headers: Readonly<Record<string, string>>): Buffer {
  const literal = (name: string, value: string): Buffer =>
    Buffer.concat([Buffer.from([0]), hpackText(name), hpackText(value)]);
  return Buffer.concat([
    literal(':method', 'POST'),
    literal(':scheme', 'http'),
    literal(':path', path),
    literal(':authority', authority),
    literal('te', 'trailers'),
    literal('content-type', 'application/grpc'),
    ...Object.entries(headers).map(([name, value]) => literal(name, value)),
  ]);
}

interface Waiting {
  hasMessage: boolean;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** A connection that calls one node; a node takes 100 calls at once on each. */
export class GrpcCaller {
  readonly #socket: Socket;
  readonly #address: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #blocks = new Map<string, Buffer>();
  readonly #waiting = new Map<number, Waiting>();
  #rest: Buffer = Buffer.alloc(0);
  #lastStream = -1;
  #received = 0;

  private constructor(socket: Socket, address: string, headers: Readonly<Record<string, string>>) {
    this.#socket = socket;
    this.#address = address;
    this.#headers = headers;
    socket.setNoDelay(true);
    const settings = Buffer.concat([
      // HEADER_TABLE_SIZE 0, ENABLE_PUSH 0, INITIAL_WINDOW_SIZE.
      ...[Buffer.from([0, 1, 0, 0, 0, 0]), Buffer.from([0, 2, 0, 0, 0, 0])],
      ...[Buffer.from([0, 4]), uint32(WINDOW)],
    ]);
    socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0, settings), frame(WINDOW_UPDATE, 0, 0, uint32(WINDOW))]));
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.on('error', (error) => this.#end(error));
    socket.on('close', () => this.#end(new Error('the connection was closed')));
  }

  /** Connects. @param headers of every call, names in lower case */
  static open(address: string, headers: Readonly<Record<string, string>>): Promise<GrpcCaller> {
    const url = new URL(`http://${address}`);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: url.hostname, port: Number(url.port) });
      socket.once('error', reject);
      socket.once('connect', () => resolve(new GrpcCaller(socket, address, headers)));
    });
  }

  /** Calls a method. Rejects when the answer has no message. */
  call(path: string, request: Uint8Array): Promise<void> {
    const stream = (this.#lastStream += 2);
    const block = this.#blocks.get(path) ?? hpackHeaders(path, this.#address, this.#headers);
    this.#blocks.set(path, block);
    const message = Buffer.concat([Buffer.from([0]), uint32(request.length), request]);
    const frames = [frame(HEADERS, END_HEADERS, stream, block), frame(DATA, END_STREAM, stream, message)];
    this.#socket.write(Buffer.concat(frames));
    return new Promise((resolve, reject) => {
      this.#waiting.set(stream, { hasMessage: false, resolve, reject });
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    let at = 0;
    while (all.length - at >= HEADER_BYTES) {
      const length = all.readUIntBE(at, 3);
      if (all.length - at < HEADER_BYTES + length) break;
      const payload = all.subarray(at + HEADER_BYTES, at + HEADER_BYTES + length);
      this.#heard(all[at + 3] ?? 0, all[at + 4] ?? 0, all.readUInt32BE(at + 5) & 0x7fff_ffff, payload);
      at += HEADER_BYTES + length;
    }
    this.#rest = all.subarray(at);
  }

  #heard(type: number, flags: number, stream: number, payload: Buffer): void {
    if (type === SETTINGS && (flags & ACK) === 0) this.#socket.write(frame(SETTINGS, ACK, 0, new Uint8Array()));
    if (type === PING && (flags & ACK) === 0) this.#socket.write(frame(PING, ACK, 0, payload));
    if (type === GOAWAY) this.#end(new Error(`the node ends the connection: ${payload.subarray(8).toString()}`));
    const waiting = this.#waiting.get(stream);
    if (waiting === undefined) return;
    if (type === DATA) {
      waiting.hasMessage ||= payload.length > 0;
      this.#topUp(payload.length);
    }
    if (type === RST_STREAM || ((type === DATA || type === HEADERS) && (flags & END_STREAM) !== 0)) {
      this.#waiting.delete(stream);
      if (waiting.hasMessage) waiting.resolve();
      else waiting.reject(new Error('the call was refused'));
    }
  }

  #topUp(bytes: number): void {
    this.#received += bytes;
    if (this.#received < TOP_UP) return;
    this.#socket.write(frame(WINDOW_UPDATE, 0, 0, uint32(this.#received)));
    this.#received = 0;
  }

  #end(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
