/** What the expressions of pools and rules may read. Names and types are checked when an expression is written. */
import type { CelSchema, CelType } from '../expressions/index.js';

const ROUTABLE: CelType = {
  object: {
    id: 'string',
    type: 'string',
    attributes: { map: 'dyn' },
    priority: 'double',
    channel: 'string',
    required_skills: { list: 'string' },
    waited_seconds: 'double',
  },
};

const RECIPIENT: CelType = {
  object: {
    id: 'string',
    name: 'string',
    external_id: 'string',
    type: 'string',
    tags: { list: 'string' },
    attributes: { map: 'dyn' },
    weight: 'double',
    tier: 'double',
    order: 'double',
    timezone: 'string',
    max_concurrent: 'double',
  },
};

/** Units in use and what is left; `limit` is -1 without one. */
const LOAD: CelType = { object: { used: 'double', limit: 'double' } };

/** What was learned from outcomes; success_rate is 1 without samples, latency_ms -1. */
const STATS: CelType = { object: { success_rate: 'double', samples: 'double', latency_ms: 'double' } };

/** Conditions of rules, and keys: they see the routable before anything was looked up. */
export const ROUTABLE_SCHEMA: CelSchema = {
  id: 'routing/routable/v1',
  variables: { routable: ROUTABLE, now: 'timestamp' },
};

/** Enrichments: the routable, and those that were worked out before. */
export const ENRICHMENT_SCHEMA: CelSchema = {
  id: 'routing/enrichment/v1',
  variables: { routable: ROUTABLE, enrichments: { map: 'dyn' }, now: 'timestamp' },
};

/** Conditions and scores of candidates. */
export const CANDIDATE_SCHEMA: CelSchema = {
  id: 'routing/candidate/v1',
  variables: {
    routable: ROUTABLE,
    recipient: RECIPIENT,
    load: LOAD,
    stats: STATS,
    enrichments: { map: 'dyn' },
    now: 'timestamp',
  },
};
