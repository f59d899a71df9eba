-- breaking: no
-- Workflows and their immutable versions. Definitions are JSON text in bytea: jsonb would drop the order of fields,
-- refuse texts with NUL and write numbers in another way than their digest saw. Times: microseconds since 1970.

create table ductor.workflow (
  tenant_id uuid not null,
  workflow_id uuid not null,
  created_at bigint not null default ductor.now_us(),
  updated_at bigint not null default ductor.now_us(),
  -- Version that a trigger without version runs; 0: none was published yet.
  current_version integer not null default 0,
  -- Raised by each change of the row.
  record_version integer not null default 1,
  -- Sorted by bytes, as keyset pages compare it, whatever the database's locale is.
  family_slug text collate "C" not null,
  title text not null,
  -- null: it came from a worker, nothing was drafted.
  draft bytea,
  primary key (tenant_id, workflow_id),
  unique (tenant_id, family_slug)
);

create table ductor.workflow_version (
  tenant_id uuid not null,
  workflow_id uuid not null,
  version integer not null check (version > 0),
  published_at bigint not null default ductor.now_us(),
  -- SHA-256 of the canonical definition.
  digest bytea not null check (octet_length(digest) = 32),
  definition bytea not null,
  primary key (tenant_id, workflow_id, version),
  unique (tenant_id, workflow_id, digest)
);

comment on table ductor.workflow is 'What exists under a slug, its draft, and which version is current.';
comment on table ductor.workflow_version is 'Published content; a row is never changed and never deleted while runs of it exist.';
