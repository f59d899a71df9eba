-- breaking: no
-- Who may call. A key is stored only as a keyed hash; the tenant of a call comes from its key and from nowhere else.

create table ductor.tenants (
  tenant_id uuid primary key,
  slug text not null unique,
  created_at timestamptz not null default ductor.ductor_now()
);

create table ductor.api_keys (
  tenant_id uuid not null,
  key_id uuid not null,
  name text not null,
  -- HMAC-SHA256 of the whole key under a key derived from the cluster's secret.
  key_hash bytea not null check (octet_length(key_hash) = 32),
  scopes text[] not null,
  created_at timestamptz not null default ductor.ductor_now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  -- Coarse: written at most once a minute.
  last_used_at timestamptz,
  primary key (tenant_id, key_id)
);

-- The one index here that does not lead with the tenant: a key is looked up before its tenant is known.
create unique index api_keys_hash on ductor.api_keys (key_hash);

comment on table ductor.tenants is 'Everything else belongs to one of these.';
comment on table ductor.api_keys is 'Keys by their keyed hash; the key itself is shown once, at its creation.';
