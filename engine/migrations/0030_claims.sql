-- breaking: no
-- Claim queues: work that recipients take by themselves, and how much each of them has taken.

create table ductor.claim_queue (
  tenant_id uuid not null,
  queue_id uuid not null,
  -- What a user may write of it, checked and in one form.
  fields jsonb not null,
  name text not null generated always as (fields ->> 'name') stored,
  -- Counts the changes.
  record_version integer not null default 0,
  created_at bigint not null default ductor.now_us(),
  updated_at bigint not null default ductor.now_us(),
  primary key (tenant_id, queue_id)
);

create unique index claim_queue_name on ductor.claim_queue (tenant_id, name);

create table ductor.claim_item (
  tenant_id uuid not null,
  item_id uuid not null,
  queue_id uuid not null,
  pool_id uuid not null,
  decision_id uuid not null,
  -- routable_id, routable_type, channel, priority
  work jsonb not null,
  -- waves, terms: those of its pool when it was queued
  rules jsonb not null,
  -- JSON of what was asked for.
  ask bytea not null,
  -- Who is told what becomes of it.
  waiter text,
  -- Recipients that may claim it, best first, and the units that each would take.
  claimants uuid[] not null,
  units integer[] not null,
  -- Waves that have begun, and how many claimants they made out.
  opened integer not null,
  visible integer not null,
  declined uuid[] not null default '{}',
  -- open, claimed, completed, expired, withdrawn
  state text not null default 'open',
  queued_at bigint not null,
  expires_at bigint not null,
  claimed_by uuid,
  assignment_id uuid,
  claimed_at bigint,
  released_by uuid,
  ended_at bigint,
  -- The decision that was made when nobody had claimed it in time.
  decided_again uuid,
  -- When to look at it; null: never.
  next_at bigint,
  primary key (tenant_id, item_id)
);

create index claim_item_queue on ductor.claim_item (tenant_id, queue_id, queued_at, item_id);
create index claim_item_open on ductor.claim_item (tenant_id, queue_id, queued_at, item_id) where state = 'open';
create index claim_item_claimed on ductor.claim_item (tenant_id, claimed_by, queue_id) where state = 'claimed';
create index claim_item_next on ductor.claim_item (next_at) where next_at is not null;
create index claim_item_ended on ductor.claim_item (ended_at) where ended_at is not null;

-- What each recipient has claimed from each queue; changed while the account of the recipient is locked.
create table ductor.claim_budget_usage (
  tenant_id uuid not null,
  queue_id uuid not null,
  recipient_id uuid not null,
  -- Until then it claims nothing.
  cooling_until bigint not null default 0,
  -- By kind of period: {"fixed": {"day/UTC": {number, used, before}}, "rolling": {"3600000000": [moments]}}.
  periods jsonb not null default '{}',
  updated_at bigint not null,
  primary key (tenant_id, queue_id, recipient_id)
);

create index claim_budget_usage_age on ductor.claim_budget_usage (updated_at);

-- The item that an assignment was claimed by.
alter table ductor.assignment add column claim_item_id uuid;

insert into ductor.api_grant values
  ('claim_queue', 'select, insert, update, delete'),
  ('claim_item', 'select, insert, update'),
  ('claim_budget_usage', 'select, insert, update, delete');

comment on table ductor.claim_queue is 'Queues that recipients claim work from.';
comment on table ductor.claim_item is 'Work that waits to be claimed, and what became of it.';
comment on table ductor.claim_budget_usage is 'What recipients have claimed, for budgets.';
