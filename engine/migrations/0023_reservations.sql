-- breaking: no
-- Reservations: what selecting runs hold of recipients until they and all that descends from them have ended.

create table ductor.capacity_reservation (
  admitted_at bigint not null,
  tenant_id uuid not null,
  -- The family it belongs to, by the run at its top.
  root_id uuid not null,
  -- The first run of the chain that holds it.
  chain_id uuid not null,
  recipient_id uuid not null,
  -- The run that selected.
  run_id uuid not null,
  pool_id uuid not null,
  -- UTC day on which it was admitted, days since 1970.
  day integer not null,
  -- Place in the slate, from 0.
  place integer not null,
  units integer not null check (units > 0),
  -- Limit that the version of the run pins; 0: none.
  pinned integer not null default 0,
  -- SHA-256 of pool, step, and recipients with their units in order.
  digest bytea not null,
  path text not null,
  primary key (tenant_id, root_id, chain_id, digest, recipient_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- Who holds a recipient.
create index capacity_reservation_of on ductor.capacity_reservation (tenant_id, recipient_id);
-- What a run holds.
create index capacity_reservation_by on ductor.capacity_reservation (tenant_id, chain_id);

-- What is locked by whoever reserves or releases in a family. Gone with the last open run of the family.
create table ductor.capacity_family (
  tenant_id uuid not null,
  root_id uuid not null,
  primary key (tenant_id, root_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- A start of a child in a family that may hold something: such a child is there before its run is.
alter table ductor.run_inbox add column root_id uuid, add column sender_id uuid;
create index run_inbox_births on ductor.run_inbox (tenant_id, root_id) where root_id is not null;

insert into ductor.api_grant values
  ('capacity_reservation', 'select'),
  ('capacity_family', 'select');

comment on table ductor.capacity_reservation is 'What selecting runs hold of recipients.';
comment on table ductor.capacity_family is 'Families of selecting runs; their rows are what is locked.';
comment on column ductor.run_inbox.root_id is 'Of a start: the family of the child, where it may hold reservations.';
comment on column ductor.run_inbox.sender_id is 'Of a start with a family: the run whose step starts the child.';
