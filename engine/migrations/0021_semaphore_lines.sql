-- breaking: no
-- Who waits for several keys is passed where it waits for another one; that has to be known where not all of its keys are
-- locked.
alter table ductor.semaphore_waiter add column is_elsewhere boolean not null default false;
comment on column ductor.semaphore_waiter.is_elsewhere is 'When it was looked at last, it waited for another of its keys only.';
