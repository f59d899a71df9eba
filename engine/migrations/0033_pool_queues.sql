-- breaking: no
-- Queues of pools: work that waits until somebody can take it.

create table ductor.waiting_work (
  tenant_id uuid not null,
  -- The decision that queued it here.
  decision_id uuid not null,
  -- In whose queue; 00000000-0000-0000-0000-000000000000: a rule holds it in no pool.
  pool_id uuid not null,
  -- The decision that queued it first, in any pool.
  first_id uuid not null,
  -- The key that asked.
  principal_id uuid not null,
  routable_id text not null,
  routable_type text not null,
  channel text not null,
  priority integer not null,
  -- JSON of what was asked for.
  ask bytea not null,
  -- Pools that the decision came to.
  reach uuid[] not null,
  -- Why it waits, as the last look found.
  reason text not null,
  queued_at bigint not null,
  expires_at bigint not null,
  -- Counts what was queued in one transaction.
  seq integer not null,
  -- Its place in the order of its queue: higher ones first, by rank and then by place.
  rank bigint not null,
  place bigint not null,
  -- When to look at it, wherever it stands in the order; null: it waits no more.
  next_at bigint,
  -- waiting, decided, removed
  state text not null default 'waiting',
  ended_at bigint,
  -- What it came to.
  decided_as uuid,
  primary key (tenant_id, decision_id)
);

create index waiting_work_order on ductor.waiting_work (tenant_id, pool_id, rank desc, place desc, decision_id desc)
  where state = 'waiting';
create index waiting_work_next on ductor.waiting_work (tenant_id, pool_id, next_at) where next_at is not null;
create index waiting_work_first on ductor.waiting_work (tenant_id, first_id);
create index waiting_work_ended on ductor.waiting_work (ended_at) where ended_at is not null;

-- When to look at the queue of a pool; which node does is settled here.
create table ductor.pool_queue (
  tenant_id uuid not null,
  pool_id uuid not null,
  -- What the places of its work were worked out by.
  ordering text not null,
  age_weight integer not null,
  -- null: nothing waits.
  next_at bigint,
  primary key (tenant_id, pool_id)
);

create index pool_queue_next on ductor.pool_queue (next_at) where next_at is not null;

-- The decision that queued the work first, of work that has waited.
alter table ductor.routing_decision add column queued_by uuid;

insert into ductor.api_grant values
  ('waiting_work', 'select, insert, update'),
  ('pool_queue', 'select, insert, update');

comment on table ductor.waiting_work is 'Work that waits in queues of pools, and what became of it.';
comment on table ductor.pool_queue is 'When to look at queues of pools.';
