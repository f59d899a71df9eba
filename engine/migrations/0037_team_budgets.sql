-- breaking: no
-- Budgets of claims that all recipients of a team share.

-- The team whose budget the claim was counted for; null: the claimer's own, or none.
alter table ductor.claim_item add column claimed_for text;

create index claim_item_claimed_for on ductor.claim_item (tenant_id, queue_id, claimed_for)
  where state = 'claimed' and claimed_for is not null;

-- What the recipients of each team have claimed from each queue together.
create table ductor.claim_team_usage (
  tenant_id uuid not null,
  queue_id uuid not null,
  team text not null,
  -- As in claim_budget_usage.
  periods jsonb not null default '{}',
  updated_at bigint not null,
  primary key (tenant_id, queue_id, team)
);

create index claim_team_usage_age on ductor.claim_team_usage (updated_at);

insert into ductor.api_grant values ('claim_team_usage', 'select, insert, update, delete');

comment on table ductor.claim_team_usage is 'What teams have claimed, for budgets that they share.';
