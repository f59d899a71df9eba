-- breaking: no
-- Steps that wait for work in queues of pools.

-- Who is told what the work comes to: the run and path of a step; null: nobody, or it has been told.
alter table ductor.waiting_work add column waiter text;
-- The first run of the chain with which it ends; null: it does not end by itself.
alter table ductor.waiting_work add column ends_with uuid;

-- Nobody takes work out of its queue without telling who waits for it.
alter table ductor.waiting_work add constraint waiting_work_told check (state = 'waiting' or waiter is null);

create index waiting_work_ends_with on ductor.waiting_work (tenant_id, ends_with)
  where ends_with is not null and state = 'waiting';
