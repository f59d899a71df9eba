-- breaking: no
-- Semaphores: keys of a tenant under which only so many may be at work, or begin, at a time. Rows are written by the gate
-- lane alone, under the lock of the semaphore's row.

create table ductor.semaphore (
  -- Of a rate: when the next beginning may be.
  next_at bigint not null default 0,
  tenant_id uuid not null,
  -- Smallest limit that a holder stated; 0: nobody holds it.
  limited_to integer not null default 0,
  held integer not null default 0 check (held >= 0),
  -- c/… for room, r/… for a rate.
  key text not null,
  primary key (tenant_id, key)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);

create table ductor.semaphore_hold (
  since bigint not null,
  tenant_id uuid not null,
  run_id uuid not null,
  limited_to integer not null,
  key text not null,
  -- Empty: the run as a whole.
  path text not null,
  primary key (tenant_id, key, run_id, path)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

create table ductor.semaphore_waiter (
  -- Ascending: who came first.
  place bigint generated always as identity,
  since bigint not null,
  tenant_id uuid not null,
  run_id uuid not null,
  ticket integer not null,
  -- It was told that it may be its turn; nobody passes it before it has asked again.
  is_called boolean not null default false,
  key text not null,
  path text not null,
  -- All that it asked for.
  wants jsonb not null,
  primary key (tenant_id, key, place)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create unique index semaphore_waiter_of_run on ductor.semaphore_waiter (tenant_id, key, run_id, path);

insert into ductor.api_grant values
  ('semaphore', 'select'),
  ('semaphore_hold', 'select'),
  ('semaphore_waiter', 'select');

comment on table ductor.semaphore is 'Room under keys, and rates; its rows are what is locked.';
comment on table ductor.semaphore_hold is 'Who holds room under a key.';
comment on table ductor.semaphore_waiter is 'Who stands in line for room under a key.';
