-- breaking: no
-- Lists by a state that few runs have: without these a page walks along all runs of the tenant (290 ms at a million).
-- A run that goes its usual way has one entry for as long as it is open, and none once it has completed: bench/growth.ts.

create index runs_open on ductor.runs (tenant_id, started_at desc, run_id) where closed_at is null;
-- 7 is COMPLETED, what comes after it are the other ends (store-postgres/run-status-code.ts).
create index runs_ended_otherwise on ductor.runs (tenant_id, status, started_at desc, run_id) where status > 7;
