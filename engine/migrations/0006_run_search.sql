-- breaking: no
-- Search of runs by attribute, newest start first: the start stands beside the attribute, so that a page is one walk along
-- the index, however many runs have the value.
alter table ductor.run_attribute add column started_at bigint not null default 0;

update ductor.run_attribute a set started_at = r.started_at
from ductor.runs r where r.tenant_id = a.tenant_id and r.run_id = a.run_id;

-- The name leads: beginning with the tenant it would look as good as the primary key to a plan that knows no rows yet.
create index run_attribute_search on ductor.run_attribute (name, value, tenant_id, started_at desc, run_id);
