-- breaking: no
-- Schedules and their slots. Times are microseconds since 1970 by the database's clock.

create table ductor.schedule (
  -- The slot to plan next; null: paused, or there is none any more.
  next_slot bigint,
  -- When it is due: the slot, and its share of the jitter.
  due_at bigint,
  starts_at bigint,
  ends_at bigint,
  created_at bigint not null default ductor.now_us(),
  updated_at bigint not null default ductor.now_us(),
  catch_up_window_ms bigint not null,
  jitter_ms bigint not null,
  record_version integer not null default 1,
  -- Version of the workflow; 0: the current one when a slot starts.
  version integer not null,
  -- Last byte of the id: the node that owns the shard starts the runs.
  shard smallint not null,
  is_paused boolean not null default false,
  tenant_id uuid not null,
  schedule_id uuid not null,
  slug text not null,
  title text not null,
  family_slug text not null,
  overlap text not null,
  catch_up text not null,
  pause_reason text not null default '',
  -- schedules/slots/spec.ts
  spec jsonb not null,
  attributes jsonb not null,
  input_encoding text not null,
  input bytea not null,
  primary key (tenant_id, schedule_id)
) with (fillfactor = 80);

create unique index schedule_slug on ductor.schedule (tenant_id, slug);
-- What the owner of a shard looks for.
create index schedule_due on ductor.schedule (shard, due_at) where due_at is not null;

-- One row a slot, from the moment it is planned. Its outcome goes
--   due -> starting -> started | failed
--   due -> skipped_overlap          due -> buffered -> starting | skipped_overlap
--   missed_catch_up
-- and only a backfill makes a slot due again that started nothing.
create table ductor.schedule_slot (
  slot_at bigint not null,
  due_at bigint not null,
  decided_at bigint,
  shard smallint not null,
  -- Counts as running for the slots after it, until its run was seen closed.
  is_running boolean not null default false,
  tenant_id uuid not null,
  schedule_id uuid not null,
  run_id uuid,
  -- time, backfill, trigger
  source text not null,
  outcome text not null,
  overlap text not null,
  reason text not null default '',
  primary key (tenant_id, schedule_id, slot_at)
);

-- What the owner of a shard has to decide or to start.
create index schedule_slot_open on ductor.schedule_slot (shard, due_at)
  where outcome in ('due', 'starting', 'buffered');
create index schedule_slot_running on ductor.schedule_slot (tenant_id, schedule_id) where is_running;
-- Slots of all tenants by age: what is old is deleted.
create index schedule_slot_age on ductor.schedule_slot using brin (slot_at) with (autosummarize = on);

-- The fence of everything that is not a tick: which of these shards the node owns, kept so until the transaction ends.
-- A takeover and a hand-over change the rows that are locked here, so they wait, and who comes too late gets none.
-- In order of shards, so that two statements queue instead of deadlocking.
create function ductor.hold_shards(node uuid, wanted smallint[]) returns setof smallint
  language sql volatile
  as $$ select o.shard from ductor.shard_owner o
    where o.shard = any(wanted) and o.node_id = node order by o.shard for share $$;

comment on function ductor.hold_shards(uuid, smallint[]) is
  'Those of the shards that the node owns, locked against a change of owner.';

insert into ductor.api_grant values
  ('schedule', 'select, insert, update, delete'),
  ('schedule_slot', 'select, insert, update, delete');

-- Keys that could do everything in their tenant can do this, too: nobody else could ever grant it.
update ductor.api_keys set scopes = scopes || array['schedule:read', 'schedule:write']
  where scopes @> array['key:write', 'run:read', 'run:write', 'workflow:write'] and not 'schedule:write' = any (scopes);

comment on table ductor.schedule is 'When runs are started, of what, and what happens when that does not fit.';
comment on table ductor.schedule_slot is 'What became of each slot of a schedule, and why.';
