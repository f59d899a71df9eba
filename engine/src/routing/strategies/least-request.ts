/** The least (load + 1)^bias / weight, as Envoy's weighted least request. No state. */
import type { ParamsOf } from '../../pools/index.js';
import type { Candidate } from '../core/candidate.js';
import { grouped, type Strategy } from './strategy.js';

/** Compares (load + 1) / weight, exactly. */
export function compareRequests(a: Candidate, b: Candidate): number {
  return (a.load + 1) * b.weightMilli - (b.load + 1) * a.weightMilli;
}

/** The square of (load + 1)^bias / weight compared with that of another: halves of a bias become whole powers. */
function compareBiased(a: Candidate, b: Candidate, twiceBias: bigint): number {
  const left = BigInt(a.load + 1) ** twiceBias * BigInt(b.weightMilli) ** 2n;
  const right = BigInt(b.load + 1) ** twiceBias * BigInt(a.weightMilli) ** 2n;
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** least_request */
export function leastRequest({ bias }: ParamsOf<'least_request'>): Strategy {
  if (bias === 1) return (candidates) => ({ groups: grouped(candidates, compareRequests), ties: 'idle' });
  const twiceBias = BigInt(bias * 2);
  return (candidates) => ({ groups: grouped(candidates, (a, b) => compareBiased(a, b, twiceBias)), ties: 'idle' });
}
