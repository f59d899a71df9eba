-- breaking: no
-- Offers that wait for an answer: until when, and what is asked for once they are declined or time has run out.

create table ductor.routing_offer (
  tenant_id uuid not null,
  assignment_id uuid not null,
  -- Whoever has not taken it by then does not get it.
  expires_at bigint not null,
  again jsonb not null,
  -- The decision that routed it to the next one.
  rerouted_to uuid,
  -- When to look at it; null: it is over.
  next_at bigint,
  primary key (tenant_id, assignment_id)
);

create index routing_offer_next on ductor.routing_offer (next_at) where next_at is not null;

insert into ductor.api_grant values ('routing_offer', 'select, insert, update');

comment on table ductor.routing_offer is 'Offers that wait for an answer.';
