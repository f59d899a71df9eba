-- breaking: no
-- Who has units of a recipient now, without all that it had before.

create index assignment_active on ductor.assignment (tenant_id, recipient_id, committed_at) where state = 'active';
