-- breaking: no
-- Shadows of pools: what other strategies would have chosen for decisions that were made.

-- Decisions that are to be compared: written by the transaction that decides, taken by the one that compares.
create table ductor.shadow_due (
  tenant_id uuid not null,
  decision_id uuid not null,
  decided_at bigint not null,
  primary key (tenant_id, decision_id)
);

create index shadow_due_order on ductor.shadow_due (decided_at);

-- State of shadows' strategies, apart from that of the strategies that decide.
create table ductor.shadow_state (
  tenant_id uuid not null,
  pool_id uuid not null,
  shadow_id text not null,
  state jsonb not null default '{}',
  version integer not null default 0,
  primary key (tenant_id, pool_id, shadow_id)
);

create table ductor.shadow_decision (
  tenant_id uuid not null,
  decision_id uuid not null,
  pool_id uuid not null,
  -- Digest of what the shadow chooses by.
  shadow_id text not null,
  -- What it chooses by, in a word.
  strategy text not null,
  decided_at bigint not null,
  compared_at bigint not null,
  -- The first 20 of the shadow's ranking.
  ranking uuid[] not null,
  live_winner uuid,
  shadow_winner uuid,
  agrees boolean not null,
  -- Place from 1; null: it is not ranked.
  live_rank_in_shadow integer,
  shadow_rank_in_live integer,
  -- Of the first five of both; thousandths.
  jaccard_milli integer not null,
  -- Over those that both rank; thousandths; null: fewer than two.
  kendall_tau_milli integer,
  would_fall_back boolean not null,
  live_cost_micros bigint,
  shadow_cost_micros bigint,
  live_headroom_us bigint,
  shadow_headroom_us bigint,
  load_delta integer,
  took_us integer not null,
  -- Version of the shadow's state that it chose by.
  state_version integer not null,
  error text,
  expires_at bigint not null,
  primary key (tenant_id, pool_id, shadow_id, decision_id)
);

create index shadow_decision_latest
  on ductor.shadow_decision (tenant_id, pool_id, decided_at desc, decision_id desc, shadow_id);
create index shadow_decision_expiry on ductor.shadow_decision (expires_at);

insert into ductor.api_grant values
  ('shadow_due', 'insert'),
  ('shadow_decision', 'select');

comment on table ductor.shadow_due is 'Decisions that shadows are still to be compared with.';
comment on table ductor.shadow_state is 'What strategies of shadows keep from one choice to the next.';
comment on table ductor.shadow_decision is 'What shadows would have chosen.';
