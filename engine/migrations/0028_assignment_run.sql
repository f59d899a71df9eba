-- breaking: no
-- The run whose step made an assignment.

-- null: somebody from outside did.
alter table ductor.assignment add column run_id uuid;

create index assignment_run on ductor.assignment (tenant_id, run_id, created_at desc, assignment_id desc)
  where run_id is not null;
