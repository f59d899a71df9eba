/** What a seed draws besides faults: engines, workers, settings, and what clients ask for. */
import { createHash } from 'node:crypto';
import type { StartRequest } from '../../../engine/src/workflow/coordinator/coordinator.js';
import type { CoordinatorOptions } from '../../../engine/src/workflow/coordinator/options.js';
import { jsonValue, type Plan, type Signal, type Value } from '../../../engine/src/workflow/machine/index.js';
import type { Choices } from '../core/choices.js';
import { VENOM } from '../checks/payloads.js';
import type { Truth } from '../checks/truth.js';

/** Tenants of the simulated world. */
export const TENANTS = [1, 2, 3, 4].map((n) => `018f0000-0000-7000-8000-00000000000${n}`);

/** A seed's world. */
export interface Draw {
  /** The tenants there are. */
  readonly tenants: readonly string[];
  readonly engines: number;
  readonly workers: number;
  readonly slots: number;
  readonly runs: number;
  /** How long things go wrong, microseconds. */
  readonly safetyUs: number;
  readonly options: Partial<CoordinatorOptions>;
  /** Whether the estimates of database time are wrong. */
  readonly isSkewed: boolean;
  /** Clocks are the engine's own: they learn database time from answers. */
  readonly isLearning: boolean;
  /** Tasks that may wait for workers in an engine. */
  readonly queueLimit: number;
  /** Engines have the real bridge before their workers. */
  readonly hasBridge: boolean;
  /** Engines of the bridge call an app, beside their workers. */
  readonly isCalled: boolean;
  /** Whether step bodies answer with large values, so that snapshots are written. */
  readonly isBulky: boolean;
}

/** Draws a world. */
export function drawWorld(choices: Choices): Draw {
  const hasBridge = choices.chance(0.6);
  const isBulky = choices.chance(0.15);
  const wakeHorizonMs = choices.oneOf(2_000, 10_000, 60_000);
  return {
    tenants: TENANTS.slice(0, choices.oneOf(1, 1, 2, 2, 2, 2, 3, 4)),
    engines: choices.oneOf(1, 1, 2, 2, 2, 2, 2, 3, 3, 4, 5),
    workers: choices.oneOf(1, 1, 2, 2, 2, 3, 3, 4, 4, 6, 8),
    slots: choices.oneOf(1, 2, 4, 8),
    runs: choices.int(5, 30),
    safetyUs: choices.int(8, 40) * 1_000_000,
    isSkewed: choices.chance(0.6),
    isLearning: choices.chance(0.5),
    queueLimit: choices.oneOf(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 2),
    hasBridge,
    isCalled: hasBridge && choices.chance(0.6),
    isBulky,
    options: {
      ...(choices.chance(0.4) ? { leaseMs: 9_000, heartbeatMs: 3_000 } : {}),
      maxBatchRuns: choices.oneOf(1_024, 1_024, 1, 3),
      maxTickInputs: choices.oneOf(1_024, 1_024, 1, 2),
      cacheBytes: choices.oneOf(256 * 1024 * 1024, 1_500, 12_000),
      maxWaitingStarts: choices.oneOf(20_000, 20_000, 3),
      loadPageRuns: choices.oneOf(500, 500, 1, 3),
      workerLostAfterMs: choices.oneOf(15_000, 3_000, 1_500),
      wakeHorizonMs,
      wakeScanMs: wakeHorizonMs / 2,
      // Bulky rows are what snapshots are made of.
      payloadBytes: isBulky ? choices.oneOf(64 * 1024, 64 * 1024, 200) : choices.oneOf(64 * 1024, 16, 200),
    },
  };
}

function fingerprint(input: Value): Uint8Array {
  return createHash('sha256').update(input.data).digest();
}

function request(
  choices: Choices,
  tenants: readonly string[],
  plan: Plan,
  input: Value,
  key: string | null,
): StartRequest {
  return {
    tenantId: choices.pick(tenants) ?? '',
    familySlug: plan.familySlug,
    version: plan.version,
    input,
    attributes: choices.chance(0.3) ? { team: 'sales' } : {},
    startKey: key === null ? null : { key, fingerprint: fingerprint(input) },
  };
}

/** Draws one start. */
export function drawStart(
  choices: Choices,
  { plans, tenants }: Pick<Truth, 'plans' | 'tenants'>,
  n: number,
  isPoison: boolean,
  sampleOf: (plan: Plan) => object = () => ({}),
): StartRequest {
  const plan = choices.pick(plans) ?? plans[0];
  if (plan === undefined) throw new RangeError('a seed without plans');
  const input = jsonValue({ ...sampleOf(plan), n, note: isPoison ? VENOM : '' });
  return request(choices, tenants, plan, input, choices.chance(0.5) ? `key-${n}` : null);
}

/** An update that a run waits for: `n` tells them apart. */
export function drawUpdate(name: string, n: number): Signal {
  return { name, id: `update-${n}`, payload: jsonValue({ n }), by: 'ada' };
}

/** Draws what is said to a run of this plan: mostly one signal, now and then several at once. */
export function drawSignals(choices: Choices, { signals, updates }: Plan, n: number): readonly Signal[] {
  const names = [...signals.keys(), ...updates.keys()];
  return Array.from({ length: choices.oneOf(1, 1, 2, 4) }, (_, index): Signal => {
    const name = choices.pick(names) ?? '';
    const isDecision = (signals.get(name)?.options ?? null) !== null;
    const payload = jsonValue(isDecision ? { option: choices.oneOf('yes', 'no', 'else') } : { n, index });
    return { name, id: `${n}-${index}`, payload, by: choices.oneOf('ada', 'bob', 'eve') };
  });
}

/** The same start under the same key, now and then with another input. */
export function drawRepeat(choices: Choices, first: StartRequest): StartRequest {
  if (first.startKey === null || choices.chance(0.75)) return first;
  const input = jsonValue({ n: -1, note: 'another' });
  return { ...first, input, startKey: { key: first.startKey.key, fingerprint: fingerprint(input) } };
}
