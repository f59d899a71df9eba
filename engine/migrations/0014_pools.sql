-- breaking: no
-- Pools and recipients as users write them, and who is a member of what.

create table ductor.pool (
  tenant_id uuid not null,
  pool_id uuid not null,
  -- What a user may write of it, checked and in one form.
  fields jsonb not null,
  name text not null generated always as (fields ->> 'name') stored,
  status text not null generated always as (fields ->> 'status') stored,
  -- Set while the kill switch is on: when, by whom, why.
  killed_at bigint,
  killed_by text,
  kill_reason text,
  -- Counts the changes.
  record_version integer not null default 0,
  created_at bigint not null default ductor.now_us(),
  updated_at bigint not null default ductor.now_us(),
  primary key (tenant_id, pool_id)
);

create unique index pool_name on ductor.pool (tenant_id, name);

create table ductor.recipient (
  tenant_id uuid not null,
  recipient_id uuid not null,
  -- The primary pool.
  pool_id uuid,
  -- What a user may write of it, but for its pools.
  fields jsonb not null,
  external_id text generated always as (nullif(fields ->> 'external_id', '')) stored,
  status text not null generated always as (fields ->> 'status') stored,
  state text not null generated always as (fields ->> 'state') stored,
  record_version integer not null default 0,
  created_at bigint not null default ductor.now_us(),
  updated_at bigint not null default ductor.now_us(),
  primary key (tenant_id, recipient_id)
);

create unique index recipient_external_id on ductor.recipient (tenant_id, external_id) where external_id is not null;

create table ductor.membership (
  tenant_id uuid not null,
  pool_id uuid not null,
  recipient_id uuid not null,
  -- What differs for the recipient in this pool: weight, tier, order, cost.
  fields jsonb not null,
  -- Place among the memberships of the recipient.
  place integer not null,
  primary key (tenant_id, pool_id, recipient_id)
);

create index membership_recipient on ductor.membership (tenant_id, recipient_id);

insert into ductor.api_grant values
  ('pool', 'select, insert, update, delete'),
  ('recipient', 'select, insert, update, delete'),
  ('membership', 'select, insert, update, delete');

comment on table ductor.pool is 'Markets that work enters.';
comment on table ductor.recipient is 'Who gets the work of pools.';
comment on table ductor.membership is 'Which recipients belong to which pools.';
