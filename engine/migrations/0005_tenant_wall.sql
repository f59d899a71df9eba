-- breaking: no
-- The second wall between tenants. Statements that serve a caller run as ductor_api, which sees the rows of one tenant
-- only: the one that the transaction has set as ductor.tenant_id. The first wall is the `tenant_id = $1` of statements.
-- Roles belong to the whole cluster of databases and may be missing where the migrating role may not create them: then
-- the wall does not stand, and tenant_wall_problem() says why.

create function ductor.current_tenant() returns uuid
  language sql stable parallel safe
  as $$ select nullif(current_setting('ductor.tenant_id', true), '')::uuid $$;

comment on function ductor.current_tenant() is 'Tenant of the transaction; null when none was set, which is nobody''s.';

-- What ductor_api may do, as data: a migration that brings a table for callers adds its line.
create table ductor.api_grant (
  table_name text not null,
  privileges text not null,
  primary key (table_name, privileges)
);

insert into ductor.api_grant values
  ('api_keys', 'select (tenant_id, key_id, name, scopes, created_at, expires_at, revoked_at, last_used_at)'),
  ('api_keys', 'insert'),
  ('api_keys', 'update (revoked_at)'),
  ('run_attribute', 'select'),
  ('run_journal', 'select'),
  ('run_snapshot', 'select'),
  ('runs', 'select'),
  ('tenants', 'select'),
  ('workflow', 'select, insert, update'),
  ('workflow_version', 'select, insert');

create function ductor.tenant_tables() returns setof regclass
  language sql stable
  as $$
    select c.oid::regclass from pg_class c
    where c.relnamespace = 'ductor'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and exists (
        select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped)
  $$;

comment on function ductor.tenant_tables() is
  'Tables with rows of tenants. Partitions are reached by their parents only.';

-- Why the two roles are not of use to the current role; null: they are. Of ductor_engine the rights count, ductor_api
-- is what sessions change to: since version 16 a server tells these two apart.
create function ductor.role_problem() returns text
  language plpgsql stable
  as $$
  declare
    version constant int := current_setting('server_version_num');
    to_change constant text := case when version >= 160000 then 'SET' else 'MEMBER' end;
    missing text;
  begin
    select string_agg(wanted, ' and ' order by wanted) into missing
      from unnest(array['ductor_api', 'ductor_engine']) as wanted
      where not exists (select 1 from pg_roles r where r.rolname = wanted);
    if missing is not null then
      return format('the server has no role %s', missing);
    end if;
    if not pg_has_role(current_user, 'ductor_engine', 'USAGE') then
      return format('%I is no member of ductor_engine', current_user);
    end if;
    if not pg_has_role(current_user, 'ductor_api', to_change) then
      return format('%I may not act as ductor_api', current_user);
    end if;
    if exists (select 1 from pg_roles where rolname = 'ductor_api' and (rolsuper or rolbypassrls)) then
      return 'ductor_api bypasses row-level security';
    end if;
    if pg_has_role('ductor_api', 'ductor_engine', 'MEMBER') then
      return 'ductor_api is a member of ductor_engine';
    end if;
    return null;
  end $$;

comment on function ductor.role_problem() is 'Why ductor_engine and ductor_api are of no use here; null when they are.';

create function ductor.tenant_wall_problem() returns text
  language sql stable
  as $$
    select coalesce(
      ductor.role_problem(),
      (select 'row-level security is not forced on ' || string_agg(t::text, ', ')
        from ductor.tenant_tables() t join pg_class c on c.oid = t
        where not (c.relrowsecurity and c.relforcerowsecurity)
          or (select count(*) from pg_policy p where p.polrelid = t and p.polname in ('engine', 'own_tenant')) < 2))
  $$;

comment on function ductor.tenant_wall_problem() is 'Why the wall between tenants does not stand; null when it does.';

-- Safe to repeat, and to run in several databases of a cluster at once: whoever comes second finds the roles there.
create function ductor.ensure_roles() returns void
  language plpgsql
  as $$
  declare
    wanted text;
  begin
    foreach wanted in array array['ductor_api', 'ductor_engine'] loop
      if not exists (select 1 from pg_roles where rolname = wanted) then
        begin
          execute format('create role %I nologin', wanted);
        exception when duplicate_object or unique_violation or insufficient_privilege then null;
        end;
      end if;
    end loop;
    -- Superusers need no membership. Two databases that grant the same at once: one of them finds the row changed.
    if ductor.role_problem() like '% is no member %' or ductor.role_problem() like '% may not act %' then
      begin
        execute format('grant ductor_api, ductor_engine to %I', current_user);
      exception when insufficient_privilege or unique_violation or internal_error then null;
      end;
    end if;
  end $$;

create function ductor.raise_tenant_wall() returns text
  language plpgsql
  as $$
  declare
    name regclass;
    given record;
  begin
    perform ductor.ensure_roles();
    -- Forced without the roles, the wall would shut out the engine itself.
    if ductor.role_problem() is not null then
      return ductor.role_problem();
    end if;
    if not pg_has_role(current_user, (select nspowner from pg_namespace where nspname = 'ductor'), 'USAGE') then
      return ductor.tenant_wall_problem();
    end if;
    grant usage on schema ductor to ductor_api, ductor_engine;
    grant all on all tables in schema ductor to ductor_engine;
    grant all on all sequences in schema ductor to ductor_engine;
    for given in select table_name, privileges from ductor.api_grant loop
      execute format('grant %s on ductor.%I to ductor_api', given.privileges, given.table_name);
    end loop;
    for name in select t from ductor.tenant_tables() t loop
      if not exists (select 1 from pg_policy where polrelid = name and polname = 'engine') then
        execute format('create policy engine on %s to ductor_engine using (true) with check (true)', name);
      end if;
      if not exists (select 1 from pg_policy where polrelid = name and polname = 'own_tenant') then
        execute format('create policy own_tenant on %s to ductor_api using (tenant_id = ductor.current_tenant())'
          ' with check (tenant_id = ductor.current_tenant())', name);
      end if;
      if exists (select 1 from pg_class where oid = name and not (relrowsecurity and relforcerowsecurity)) then
        execute format('alter table %s enable row level security, force row level security', name);
      end if;
    end loop;
    return ductor.tenant_wall_problem();
  end $$;

comment on function ductor.raise_tenant_wall() is
  'Makes roles, grants and policies where they are missing. Returns why the wall does not stand; null when it does.';
