-- breaking: no
-- Work in queues of pools rises with each minute that the clock of its SLA counts.

-- From when that clock counts. null: from when it was queued.
alter table ductor.waiting_work add column clock_at bigint;

-- By how much a minute of it raises what waits.
alter table ductor.pool_queue add column boost integer not null default 0;
