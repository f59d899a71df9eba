-- breaking: no
-- Retention: how long a run is kept after its end, and what finds the runs whose time is over.

create function ductor.default_retention() returns bigint
  language sql immutable parallel safe
  as $$ select 2592000000000::bigint $$;

comment on function ductor.default_retention() is '30 days, in microseconds.';

alter table ductor.tenants add column retention_us bigint not null default ductor.default_retention();

comment on column ductor.tenants.retention_us is
  'How long its runs are kept that do not say so themselves, microseconds.';

-- Decided when the run starts. The default is for nodes of an earlier version, which do not know the column.
alter table ductor.runs add column retention_us bigint not null default 2592000000000;

create function ductor.run_week(id uuid) returns integer
  language sql immutable parallel safe
  as $$ select (('x' || substr(id::text, 1, 8) || substr(id::text, 10, 4))::bit(48)::bigint / 604800000)::integer $$;

comment on function ductor.run_week(uuid) is
  'The week since 1970 in which a run id was drawn: the number in the names of the partitions of its journal.';

-- Runs that are kept for a week or longer are dropped with their week where that is possible, which takes until the
-- last of the week has expired; they go one by one only after another eight days.
create function ductor.removal_due(closed_at bigint, retention_us bigint) returns bigint
  language sql immutable parallel safe
  as $$ select closed_at + retention_us + case when retention_us >= 604800000000 then 691200000000 else 0 end $$;

comment on function ductor.removal_due(bigint, bigint) is
  'When a closed run is to be removed one by one at the latest, microseconds.';

create index runs_removal on ductor.runs (ductor.run_week(run_id), ductor.removal_due(closed_at, retention_us), run_id)
  where closed_at is not null;
-- Whether anybody of a family is still open.
create index runs_open_of_root on ductor.runs (tenant_id, root_id) where closed_at is null and root_id is not null;
-- The run leads: beginning with the tenant it would look as good as the primary key to a plan that knows no rows yet.
create index run_start_key_of_run on ductor.run_start_key (run_id, tenant_id);

-- Runs that are gone and whose journal and large values are still to be deleted: a run with a long journal goes in
-- several steps, and a step that breaks off is done again.
create table ductor.run_leftover (
  tenant_id uuid not null,
  run_id uuid not null,
  primary key (tenant_id, run_id)
);

comment on table ductor.run_leftover is 'Removed runs of whose journal or payloads rows are left.';
