-- breaking: no
-- Seats and models: whose binding it is, how high it has climbed, and how recipients recover from rate limits.

alter table ductor.routing_binding
  -- Who ends it: the run at the top of a family, or what the pool's key said; null: nobody does, its time alone.
  add column owner text,
  -- Of a binding to a tier: the highest that its owner has come to.
  add column tier integer;

create index routing_binding_owner on ductor.routing_binding (tenant_id, owner) where owner is not null;
create index routing_binding_seat on ductor.routing_binding (tenant_id, recipient_id)
  where owner is not null and tier is null;

alter table ductor.recipient_fact
  -- Rate limits in a row that it has not recovered from; 0: none.
  add column limit_episode integer not null default 0,
  -- Until when somebody tries it, its rate limit over.
  add column probe_until bigint;

insert into ductor.api_grant values ('routing_binding', 'delete');

comment on column ductor.routing_binding.owner is 'Who ends it: a family of runs, or the key of other work.';
comment on column ductor.routing_binding.tier is 'The highest tier that its owner has come to.';
comment on column ductor.recipient_fact.limit_episode is 'Rate limits in a row that it has not recovered from.';
comment on column ductor.recipient_fact.probe_until is 'Until when somebody tries it after a rate limit.';
