-- breaking: no
-- What stops the clocks of assignments, and by how much a breach raises the priority of the work.

-- What the work waits for, in words of those who do it, such as waiting_customer; null: nothing.
alter table ductor.assignment add column work_state text;

alter table ductor.sla_clock
  -- Since when it stands still; null: it runs.
  add column paused_at bigint,
  -- How much of its time it has stood still before; it is due later by that.
  add column paused_us bigint not null default 0,
  -- By how much the priority of the work rises when the clause is broken.
  add column escalate_by integer not null default 0;
