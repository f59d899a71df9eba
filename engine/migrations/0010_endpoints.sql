-- breaking: no
-- Apps that the engine calls, instead of workers that hold a stream.

create table ductor.endpoint (
  tenant_id uuid not null,
  endpoint_id uuid not null,
  name text not null,
  form text not null check (form in ('http', 'grpc')),
  url text not null,
  audience text not null,
  queues text[] not null,
  concurrency integer not null,
  timeout_ms integer not null,
  -- What it serves: [{"familySlug": ..., "handlers": [...], "pinnedVersion": ...}].
  workflows jsonb not null,
  -- Counts changes: nodes look at it to see which endpoints to read again.
  revision integer not null default 1,
  created_at bigint not null default ductor.now_us(),
  updated_at bigint not null default ductor.now_us(),
  primary key (tenant_id, endpoint_id)
);

create unique index endpoint_name on ductor.endpoint (tenant_id, name);

insert into ductor.api_grant values ('endpoint', 'select, insert, update, delete');

comment on table ductor.endpoint is 'Where tasks of a tenant are called out to, and which.';
