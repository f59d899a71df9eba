-- breaking: no
-- Who changed what. Rows are only ever added; times are microseconds since 1970 by the database's clock.

create table ductor.audit (
  at bigint not null default ductor.now_us(),
  tenant_id uuid not null,
  audit_id uuid not null,
  -- The key; all zeros: the engine's own command line.
  actor_id uuid not null,
  -- Name of the key at that time.
  actor text not null,
  method text not null,
  object_kind text not null,
  object_id text not null,
  -- "ok", "existing", or the code of an error.
  outcome text not null,
  reason text not null default '',
  primary key (tenant_id, at, audit_id)
);

create function ductor.refuse_change() returns trigger
  language plpgsql
  as $$
  begin
    raise exception 'rows of % are never changed', tg_table_name using errcode = 'restrict_violation';
  end $$;

create trigger only_added before update on ductor.audit for each row execute function ductor.refuse_change();

insert into ductor.api_grant values ('audit', 'select, insert');

-- Keys by name: at most two of them live.
create index api_keys_by_name on ductor.api_keys (tenant_id, name);

comment on table ductor.audit is 'One row for each write that a caller asked for, in the transaction of the write where it has one.';
