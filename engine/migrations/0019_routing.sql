-- breaking: no
-- What routing keeps: state of strategies, decisions with all that they were made from, assignments, what was learned
-- of recipients.

alter table ductor.membership add column joined_at bigint not null default ductor.now_us();
comment on column ductor.membership.joined_at is 'Since when the recipient takes part in the pool.';

alter table ductor.capacity_authority
  add column last_assigned_at bigint,
  add column last_released_at bigint;

-- One row for each pool whose strategy depends on earlier choices; locked by whoever chooses.
create table ductor.strategy_state (
  tenant_id uuid not null,
  pool_id uuid not null,
  -- By place in the pool's tree of strategies.
  state jsonb not null default '{}',
  version integer not null default 0,
  primary key (tenant_id, pool_id)
);

create table ductor.routing_decision (
  tenant_id uuid not null,
  decision_id uuid not null,
  decided_at bigint not null,
  outcome text not null,
  outcome_class text not null,
  reason text,
  pool_id uuid,
  rule_id uuid,
  routable_id text not null,
  duplicate_of uuid,
  retry_at bigint,
  -- Chosen recipients in order, their units, and the assignment of each.
  recipient_ids uuid[] not null,
  units integer[] not null,
  assignment_ids uuid[] not null,
  -- The key that asked for it.
  principal_id uuid not null,
  -- JSON, as it was written: a replay must write the same bytes.
  record bytea not null,
  -- Documents that the record names.
  documents text[] not null,
  -- From then on it may be deleted.
  expires_at bigint not null,
  primary key (tenant_id, decision_id)
);

create index routing_decision_latest on ductor.routing_decision (tenant_id, decided_at desc, decision_id desc);
create index routing_decision_pool
  on ductor.routing_decision (tenant_id, pool_id, decided_at desc, decision_id desc);
create index routing_decision_expiry on ductor.routing_decision (expires_at);

-- What many decisions share, by digest: a pool's configuration, a rule.
create table ductor.routing_document (
  tenant_id uuid not null,
  digest text not null,
  document bytea not null,
  primary key (tenant_id, digest)
);

-- Requests with an idempotency key.
create table ductor.routing_request (
  tenant_id uuid not null,
  request_key text not null,
  -- SHA-256 of the request in canonical form.
  fingerprint bytea not null,
  decision_id uuid not null,
  created_at bigint not null,
  primary key (tenant_id, request_key)
);

create index routing_request_age on ductor.routing_request (created_at);

-- The first decision about work with a key, within the pool's dedupe window.
create table ductor.routing_dedupe (
  tenant_id uuid not null,
  pool_id uuid not null,
  dedupe_key text not null,
  decision_id uuid not null,
  expires_at bigint not null,
  primary key (tenant_id, pool_id, dedupe_key)
);

create index routing_dedupe_expiry on ductor.routing_dedupe (expires_at);

-- Whom a key of a sticky strategy is bound to.
create table ductor.routing_binding (
  tenant_id uuid not null,
  pool_id uuid not null,
  affinity_key text not null,
  recipient_id uuid not null,
  expires_at bigint not null,
  primary key (tenant_id, pool_id, affinity_key)
);

create index routing_binding_expiry on ductor.routing_binding (expires_at);

create table ductor.assignment (
  tenant_id uuid not null,
  assignment_id uuid not null,
  recipient_id uuid not null,
  pool_id uuid not null,
  decision_id uuid not null,
  routable_id text not null,
  units integer not null check (units > 0),
  -- offered, active, completed, declined, released
  state text not null,
  -- Whether a workflow's reservation stands behind it, and the limit that its definition has pinned; 0: none.
  is_reserved boolean not null default false,
  pinned integer not null default 0,
  created_at bigint not null,
  committed_at bigint,
  ended_at bigint,
  primary key (tenant_id, assignment_id)
);

create index assignment_latest on ductor.assignment (tenant_id, created_at desc, assignment_id desc);
create index assignment_recipient
  on ductor.assignment (tenant_id, recipient_id, created_at desc, assignment_id desc);

-- What was learned of recipients from how their work went.
create table ductor.recipient_fact (
  tenant_id uuid not null,
  recipient_id uuid not null,
  latency_us double precision,
  latency_at bigint,
  success_milli double precision,
  failure_milli double precision,
  rated_at bigint,
  -- Counts of response times: the i-th of 32 from 2^i to 2^(i+1) ms.
  responses integer[],
  failures_in_a_row integer not null default 0,
  episode integer not null default 0,
  ejected_until bigint,
  cooldown_until bigint,
  primary key (tenant_id, recipient_id)
);

insert into ductor.api_grant values
  ('strategy_state', 'select, insert, update'),
  ('routing_decision', 'select, insert'),
  ('routing_document', 'select, insert'),
  ('routing_request', 'select, insert, delete'),
  ('routing_dedupe', 'select, insert, update'),
  ('routing_binding', 'select, insert, update'),
  ('assignment', 'select, insert, update'),
  ('recipient_fact', 'select, insert, update');

comment on table ductor.strategy_state is 'What strategies keep from one choice to the next.';
comment on table ductor.routing_decision is 'Decisions with all that they were made from.';
comment on table ductor.routing_document is 'What the records of decisions name by digest.';
comment on table ductor.routing_request is 'Idempotency keys of Route.';
comment on table ductor.routing_dedupe is 'First decisions about the same work.';
comment on table ductor.routing_binding is 'Keys of sticky strategies, and whom they are bound to.';
comment on table ductor.assignment is 'Work that recipients have.';
comment on table ductor.recipient_fact is 'What was learned of recipients from outcomes.';
