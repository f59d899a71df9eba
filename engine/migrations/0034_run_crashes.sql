-- breaking: no
-- Runs that may end their engine: which ones a node tries, and how often nodes ended while they were tried.

alter table ductor.engine_node
  -- What it tries, in two lists of one length; null: nothing. probing_run is set beside them when that is one run alone.
  add column probing_tenants uuid[],
  add column probing_runs uuid[];

-- When its owner ended without leaving, and the shard was taken over; null: never yet.
alter table ductor.shard_owner add column crashed_at bigint;

-- A handful of rows, mostly none: written by takeovers from nodes that ended while they tried something.
create table ductor.run_crash (
  crashed_at bigint not null,
  tenant_id uuid not null,
  run_id uuid not null,
  crashes integer not null,
  shard smallint not null,
  primary key (shard, tenant_id, run_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

comment on table ductor.run_crash is 'Runs that were being tried when their engine ended without leaving.';
