/** A unit of work to be routed: a lead, a ticket, a task, an event. */
import { z } from 'zod';
import { canonicalJson, parseTimestampUs } from '../../kernel/index.js';
import { check, count, instantField, text } from '../../pools/index.js';

const routableSchema = z.strictObject({
  id: text(256).default(''),
  type: text(128).default(''),
  attributes: z.record(z.string().min(1).max(128), z.json()).default({}),
  priority: count(-1_000_000, 1_000_000).default(0),
  channel: text(64).default(''),
  required_skills: z.array(text(64, 1)).max(32).default([]),
  dedupe_key: text(256).default(''),
  expires_at: instantField.optional(),
  received_at: instantField.optional(),
});

/** A checked routable. */
export interface Routable {
  readonly id: string;
  readonly type: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Higher is more urgent. */
  readonly priority: number;
  readonly channel: string;
  readonly requiredSkills: readonly string[];
  readonly dedupeKey: string;
  readonly expiresUs: number | undefined;
  /** When it came in; undefined: now. */
  readonly receivedUs: number | undefined;
}

const ROUTABLE = { noun: 'routable', schema: routableSchema, names: Object.keys(routableSchema.shape) };

/** Checks a routable as users send it. Throws DuctorError `invalid_argument`; details name each field. */
export function checkRoutable(input: unknown): Routable {
  const fields = check(ROUTABLE, input);
  return {
    id: fields.id,
    type: fields.type,
    attributes: inOneOrder(fields.attributes),
    priority: fields.priority,
    channel: fields.channel,
    requiredSkills: fields.required_skills,
    dedupeKey: fields.dedupe_key,
    expiresUs: parseTimestampUs(fields.expires_at ?? ''),
    receivedUs: parseTimestampUs(fields.received_at ?? ''),
  };
}

/** The same with keys in one order: expressions that go through a map must meet it alike when they are replayed. */
export function inOneOrder<Value>(value: Value): Value {
  return JSON.parse(canonicalJson(value));
}

/** The routable as expressions see it. */
export function routableScope(routable: Routable, nowUs: number): Readonly<Record<string, unknown>> {
  const waitedUs = Math.max(0, nowUs - (routable.receivedUs ?? nowUs));
  return {
    id: routable.id,
    type: routable.type,
    attributes: routable.attributes,
    priority: routable.priority,
    channel: routable.channel,
    required_skills: routable.requiredSkills,
    waited_seconds: waitedUs / 1_000_000,
  };
}
