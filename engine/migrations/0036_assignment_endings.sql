-- breaking: no
-- Assignments and claim items that end with a chain of runs.

-- The first run of the chain; null: it does not end by itself.
alter table ductor.assignment add column ends_with uuid;
alter table ductor.claim_item add column ends_with uuid;

create index assignment_ends_with on ductor.assignment (tenant_id, ends_with)
  where ends_with is not null and state in ('offered', 'active');
create index claim_item_ends_with on ductor.claim_item (tenant_id, ends_with)
  where ends_with is not null and state = 'open';

-- Chains that are to be looked at: they have ended, or their work was routed on by itself.
create table ductor.assignment_ending (
  tenant_id uuid not null,
  chain_id uuid not null,
  next_at bigint not null,
  primary key (tenant_id, chain_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

create index assignment_ending_next on ductor.assignment_ending (next_at);

insert into ductor.api_grant values ('assignment_ending', 'select, insert, update');

comment on table ductor.assignment_ending is 'Chains of runs whose assignments may have to end.';
