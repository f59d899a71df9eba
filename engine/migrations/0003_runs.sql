-- breaking: no
-- Nodes, shards, runs and their journal. Times are microseconds since 1970 by the database's clock (ductor.now_us).
-- No foreign keys: every row here is written by the one statement that knows it is right, and a check costs a lookup a row.

-- One row per engine incarnation and commit lane. Every commit locks its row for key share; renewing the lease leaves
-- the key alone, so the two never wait for each other. A takeover locks it for update, which waits for commits in flight.
create table ductor.engine_node (
  node_id uuid not null,
  lane smallint not null,
  lease_until bigint not null,
  renewed_at bigint not null,
  -- Advisory lock that the node's liveness session holds.
  session_key bigint not null,
  -- Counted up when a commit's answer was lost: what an older session of the lane still has to say comes to nothing.
  lane_session integer not null default 0,
  fenced boolean not null default false,
  -- The run it is about to try alone, because it may have brought an earlier node down.
  probing_run uuid,
  address text not null,
  primary key (node_id, lane)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

create table ductor.shard_owner (
  shard smallint primary key check (shard between 0 and 255),
  -- null: nobody owns it.
  node_id uuid,
  epoch bigint not null default 0
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

insert into ductor.shard_owner (shard) select generate_series(0, 255);

-- Columns stand by falling alignment: no padding inside a row.
create table ductor.runs (
  started_at bigint not null,
  -- When it goes on by itself; null: closed, or only outside facts move it.
  wake_at bigint,
  closed_at bigint,
  version integer not null,
  shard smallint not null,
  -- store-postgres/run-status-code.ts
  status smallint not null,
  active boolean not null,
  tenant_id uuid not null,
  run_id uuid not null,
  family_slug text not null,
  primary key (tenant_id, run_id)
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

-- What a takeover loads, page by page of run ids (a tier comes in front of the run id once runs have tiers).
create index runs_active on ductor.runs (shard, run_id, tenant_id) where active;
-- What timers read.
create index runs_waiting on ductor.runs (shard, wake_at) where wake_at is not null and not active;
-- What people list.
create index runs_listed on ductor.runs (tenant_id, started_at desc, run_id);

-- No index by value before there is a search by value: on a table that was empty when the plan was made the planner took
-- it for the one by run.
create table ductor.run_attribute (
  tenant_id uuid not null,
  run_id uuid not null,
  name text not null,
  value text not null,
  primary key (tenant_id, run_id, name)
);

-- The truth: one row a tick. Partitioned by the week in which the run's id was drawn.
create table ductor.run_journal (
  at bigint not null,
  tenant_id uuid not null,
  run_id uuid not null,
  seq integer not null,
  entries bytea not null,
  primary key (tenant_id, run_id, seq)
) partition by range (run_id);

create table ductor.run_journal_default partition of ductor.run_journal default;

create table ductor.run_snapshot (
  tenant_id uuid not null,
  run_id uuid not null,
  seq integer not null,
  data bytea not null,
  primary key (tenant_id, run_id)
);

create table ductor.run_start_key (
  expires_at bigint not null,
  tenant_id uuid not null,
  run_id uuid not null,
  version integer not null,
  -- SHA-256 of the canonical input.
  fingerprint bytea not null,
  family_slug text not null,
  key text not null,
  primary key (tenant_id, family_slug, key)
);
-- Keys expire in the order they were made: a few bytes find the expired blocks.
create index run_start_key_expiry on ductor.run_start_key using brin (expires_at)
  with (pages_per_range = 32, autosummarize = on);

create table ductor.run_inbox (
  id bigint generated always as identity,
  tenant_id uuid not null,
  -- First run of a chain; a run that was never continued as new is its own chain.
  chain_id uuid not null,
  shard smallint not null,
  -- 1 cancel, 2 result.
  kind smallint not null,
  body bytea not null,
  primary key (shard, id)
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_vacuum_insert_scale_factor = 0,
  autovacuum_vacuum_insert_threshold = 1000
);

-- lz4 packs and unpacks several times faster than the default; not every server is built with it.
do $$
begin
  alter table ductor.run_journal alter column entries set compression lz4;
  alter table ductor.run_journal_default alter column entries set compression lz4;
  alter table ductor.run_snapshot alter column data set compression lz4;
  alter table ductor.run_inbox alter column body set compression lz4;
exception when feature_not_supported then null;
end $$;

create function ductor.first_run_id(at_ms bigint) returns uuid
  language sql immutable parallel safe
  as $$ select (lpad(to_hex(at_ms), 12, '0') || repeat('0', 20))::uuid $$;

comment on function ductor.first_run_id(bigint) is 'Lowest run id (UUID of version 7) of a millisecond since 1970.';

-- Attached rather than created in place: that needs no lock that stops commits. A week whose runs stand in the default
-- partition already (a clock was far off) stays there.
create function ductor.ensure_journal_partitions(weeks_ahead integer) returns integer
  language plpgsql
  as $$
  declare
    week_ms constant bigint := 604800000;
    first_week constant bigint := ductor.now_us() / 1000 / week_ms;
    part text;
    made integer := 0;
  begin
    perform pg_advisory_xact_lock(4720150311004);
    for week in first_week .. first_week + weeks_ahead loop
      part := 'run_journal_w' || week;
      continue when to_regclass('ductor.' || part) is not null;
      begin
        execute format('create table ductor.%I (like ductor.run_journal including all)', part);
        execute format('alter table ductor.run_journal attach partition ductor.%I for values from (%L) to (%L)',
          part, ductor.first_run_id(week * week_ms), ductor.first_run_id((week + 1) * week_ms));
        made := made + 1;
      exception when check_violation then null;
      end;
    end loop;
    return made;
  end $$;

comment on function ductor.ensure_journal_partitions(integer) is
  'Makes the journal''s partitions of this week and the next ones. Returns how many were missing.';

select ductor.ensure_journal_partitions(4);

comment on table ductor.engine_node is 'Leases and fences of engine incarnations.';
comment on table ductor.shard_owner is 'Which node ticks which runs; epoch counts the changes of owner.';
comment on table ductor.runs is 'One row a run: what lists, takeovers and timers look for. The state is the fold of the journal.';
comment on table ductor.run_journal is 'Facts, one row a tick; its key is the optimistic lock of the run.';
comment on table ductor.run_inbox is 'Messages to runs that another node may own; gone with the commit that consumed them.';
comment on table ductor.run_start_key is 'Idempotency keys of starts, 30 days.';
