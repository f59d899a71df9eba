-- breaking: no
-- Large values of runs, once a run, by the digest of their bytes; rows of the journal and snapshots refer to them. They
-- are partitioned by the week of the run's id, as the journal is, and go with their run.

create table ductor.payloads (
  tenant_id uuid not null,
  run_id uuid not null,
  -- SHA-256 of data.
  digest bytea not null,
  data bytea not null,
  primary key (tenant_id, run_id, digest)
) partition by range (run_id);

create table ductor.payloads_default partition of ductor.payloads default;

do $$
begin
  alter table ductor.payloads alter column data set compression lz4;
  alter table ductor.payloads_default alter column data set compression lz4;
exception when feature_not_supported then null;
end $$;

insert into ductor.api_grant values ('payloads', 'select');

create or replace function ductor.ensure_journal_partitions(weeks_ahead integer) returns integer
  language plpgsql
  as $$
  declare
    week_ms constant bigint := 604800000;
    first_week constant bigint := ductor.now_us() / 1000 / week_ms;
    parent text;
    part text;
    made integer := 0;
  begin
    perform pg_advisory_xact_lock(4720150311004);
    foreach parent in array array['run_journal', 'payloads'] loop
      for week in first_week .. first_week + weeks_ahead loop
        part := parent || '_w' || week;
        continue when to_regclass('ductor.' || part) is not null;
        begin
          execute format('create table ductor.%I (like ductor.%I including all)', part, parent);
          execute format('alter table ductor.%I attach partition ductor.%I for values from (%L) to (%L)',
            parent, part, ductor.first_run_id(week * week_ms), ductor.first_run_id((week + 1) * week_ms));
          made := made + 1;
        exception when check_violation then null;
        end;
      end loop;
    end loop;
    return made;
  end $$;

comment on function ductor.ensure_journal_partitions(integer) is
  'Makes the partitions of journal and payloads of this week and the next ones. Returns how many were missing.';

select ductor.ensure_journal_partitions(4);

comment on table ductor.payloads is 'Values beyond 64 KiB; written in the commit of the row that refers to them.';
