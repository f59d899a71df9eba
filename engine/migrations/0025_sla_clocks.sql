-- breaking: no
-- Clocks of assignments: what the SLA of their pool asks for, and what became of it.

alter table ductor.assignment add column responded_at bigint;

create table ductor.sla_clock (
  tenant_id uuid not null,
  assignment_id uuid not null,
  -- pickup, first_response, resolve
  clause text not null,
  warn_at bigint not null,
  due_at bigint not null,
  warned_at bigint,
  breached_at bigint,
  -- The clause was kept, or the assignment ended without it.
  settled_at bigint,
  -- What was asked for, where the pool has late work routed again; null: it does not, or that is over.
  again jsonb,
  -- The decision that routed it again.
  rerouted_to uuid,
  -- When to look at it; null: it is over.
  next_at bigint,
  primary key (tenant_id, assignment_id, clause)
);

create index sla_clock_next on ductor.sla_clock (next_at) where next_at is not null;

insert into ductor.api_grant values ('sla_clock', 'select, insert, update');

comment on table ductor.sla_clock is 'Clocks of assignments by the SLA of their pool.';
