-- breaking: no
-- Chains: a run that continues as new ends, and its successor starts in the same commit.

-- The first run of the chain, and the place in it from 2 on; null for the first run, so for every run that never
-- continued: its chain has its own id.
alter table ductor.runs add column chain_id uuid, add column chain_no integer;

-- Where messages to a chain go: to its last run, the only one that can be open. Only successors stand in it.
create unique index runs_of_chain on ductor.runs (tenant_id, chain_id, chain_no desc) where chain_id is not null;

comment on column ductor.run_inbox.chain_id is
  'Whom the message is for: a chain, or for results, starts and ends of children this very run.';
