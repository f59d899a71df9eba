-- breaking: no
-- A closing that must see every message: it locks its run's row for update, then looks into the box with a fresh
-- snapshot, and closes only when the box holds nothing it has not consumed. Otherwise it seals the box for a moment, so
-- that the next try meets a box that no longer grows.

-- Until when senders wait and try again, microseconds; null or past: never. Not in an index, so that setting it is cheap.
alter table ductor.runs add column sealed_until bigint;

-- What a closing looks up, and what a sender counts.
create index run_inbox_by_chain on ductor.run_inbox (tenant_id, chain_id);

-- In plpgsql and volatile: its query takes a snapshot of its own, later than the locks that its arguments came from.
create function ductor.runs_with_mail(tenants uuid[], chains uuid[], consumed bigint[]) returns uuid[]
  language plpgsql volatile
  as $$
  begin
    return coalesce((
      select array_agg(t.chain_id) from unnest(tenants, chains) as t (tenant_id, chain_id)
      where exists (
        select 1 from ductor.run_inbox i
        where i.tenant_id = t.tenant_id and i.chain_id = t.chain_id and i.id <> all (coalesce(consumed, '{}')) offset 0)
    ), '{}');
  end $$;

comment on function ductor.runs_with_mail(uuid[], uuid[], bigint[]) is
  'Which of these runs have messages beside the consumed ones. Call it with their rows locked.';
