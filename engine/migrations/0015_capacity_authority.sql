-- breaking: no
-- Who has how much to do: one row for each recipient, the only place where its units are counted.

create table ductor.capacity_authority (
  tenant_id uuid not null,
  recipient_id uuid not null,
  -- Units of assignments that were confirmed and have not ended.
  committed integer not null default 0 check (committed >= 0),
  -- Units that workflows have reserved.
  held integer not null default 0 check (held >= 0),
  -- The UTC day that the two daily counters count, days since 1970. On any other day they stand for 0.
  day integer not null default 0,
  daily_committed integer not null default 0 check (daily_committed >= 0),
  daily_admitted integer not null default 0 check (daily_admitted >= 0),
  -- When the committed counters were last set to 0 by hand.
  reset_at bigint,
  primary key (tenant_id, recipient_id)
);

insert into ductor.api_grant values ('capacity_authority', 'select, insert, update, delete');

comment on table ductor.capacity_authority is 'Units in use of each recipient; locked by whoever changes them.';
