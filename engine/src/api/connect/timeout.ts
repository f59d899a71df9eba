/** Deadlines that callers set. */
import { DuctorError, type Clock, type Timer } from '../../kernel/index.js';
import type { IncomingMessage } from 'node:http';

const UNITS_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };

function badTimeout(name: string, value: string): DuctorError {
  const problem = 'is no timeout';
  const remedy = name === 'connect-timeout-ms' ? 'Send whole milliseconds: 1500.' : 'Send a number and a unit: 1500m.';
  const details = [{ path: name, value: value.slice(0, 200), problem, remedy }];
  return new DuctorError('invalid_argument', `${name} ${problem}`, { details, remedy });
}

/** The timeout of a request, ms; undefined without one. Throws invalid_argument. */
export function timeoutOf({ headers }: IncomingMessage): number | undefined {
  const connect = headers['connect-timeout-ms']?.toString();
  if (connect !== undefined) {
    if (!/^\d{1,10}$/.test(connect)) throw badTimeout('connect-timeout-ms', connect);
    return Number(connect);
  }
  const grpc = headers['grpc-timeout']?.toString();
  if (grpc === undefined) return undefined;
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(grpc) ?? [];
  if (digits === undefined) throw badTimeout('grpc-timeout', grpc);
  return Number(digits) * (UNITS_MS[unit] ?? 1);
}

/** Node's timers hold no more than that; who waits longer waits without a deadline. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Calls back after the timeout, if there is one, with the refusal. */
export function deadline(clock: Clock, timeoutMs: number | undefined, late: (error: DuctorError) => void): Timer {
  if (timeoutMs === undefined || timeoutMs > MAX_TIMER_MS) return { cancel: () => undefined };
  return clock.setTimer(timeoutMs, () =>
    late(new DuctorError('deadline_exceeded', `the call was not answered within ${timeoutMs} ms`)),
  );
}
