-- breaking: no
-- Rules as users write them: which pool work goes to that names none.

create table ductor.rule (
  tenant_id uuid not null,
  rule_id uuid not null,
  -- What a user may write of it, checked and in one form.
  fields jsonb not null,
  name text not null generated always as (fields ->> 'name') stored,
  priority integer not null generated always as ((fields ->> 'priority')::integer) stored,
  -- Counts the changes.
  record_version integer not null default 0,
  created_at bigint not null default ductor.now_us(),
  updated_at bigint not null default ductor.now_us(),
  primary key (tenant_id, rule_id)
);

create unique index rule_name on ductor.rule (tenant_id, name);
create index rule_order on ductor.rule (tenant_id, priority, name collate "C");

insert into ductor.api_grant values ('rule', 'select, insert, update, delete');

comment on table ductor.rule is 'Which pool work goes to that names none.';
