/**
 * Tells what a new connection speaks from its first bytes, and puts them back.
 *
 *   silent -> (three bytes, or fewer that already differ from "PRI") -> told;  silent for too long, or gone -> closed
 */
import type { Socket } from 'node:net';
import type { Clock } from '../../kernel/index.js';

/** What a connection speaks: HTTP/2 with prior knowledge begins with "PRI", nothing else does. */
export type Spoken = 'http2' | 'http1';

const PREFACE = Buffer.from('PRI');

/** undefined: too few bytes to tell. */
function spokenBy(bytes: Buffer): Spoken | undefined {
  const length = Math.min(bytes.length, PREFACE.length);
  if (!bytes.subarray(0, length).equals(PREFACE.subarray(0, length))) return 'http1';
  return length === PREFACE.length ? 'http2' : undefined;
}

/**
 * Calls back once with what the connection speaks; a connection that does not say within the time is destroyed.
 *
 * @param silentMs how long a connection may say nothing that tells
 */
export function firstBytes(socket: Socket, clock: Clock, silentMs: number, onTold: (spoken: Spoken) => void): void {
  let held = Buffer.alloc(0);
  const timer = clock.setTimer(silentMs, () => socket.destroy());
  const stop = (): void => {
    timer.cancel();
    socket.off('readable', look);
    socket.off('error', destroy);
    socket.off('close', stop);
  };
  const destroy = (): void => void socket.destroy();
  const look = (): void => {
    for (let chunk: unknown = socket.read(); chunk !== null; chunk = socket.read()) {
      if (Buffer.isBuffer(chunk)) held = Buffer.concat([held, chunk]);
      const spoken = spokenBy(held);
      if (spoken === undefined) continue;
      stop();
      socket.unshift(held);
      onTold(spoken);
      return;
    }
    if (socket.readableEnded) destroy();
  };
  socket.on('readable', look);
  socket.on('error', destroy);
  socket.on('close', stop);
}
