-- breaking: no
-- Families: runs that steps of other runs started.

-- The run at the top and the run whose step it was; null for a run that no step started.
alter table ductor.runs add column root_id uuid, add column parent_id uuid;

-- What people list of a family. Only runs that were started by others stand in them.
create index runs_of_root on ductor.runs (tenant_id, root_id, started_at desc, run_id) where root_id is not null;
create index runs_of_parent on ductor.runs (tenant_id, parent_id, started_at desc, run_id) where parent_id is not null;
