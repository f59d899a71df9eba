-- breaking: no
-- What becomes of a claim item is told to the run whose step waits for it, in the transaction that changes the item: for
-- that, who acts for a tenant may put messages in boxes of its runs. Boxes stay closed to reading.
insert into ductor.api_grant values ('run_inbox', 'insert (tenant_id, chain_id, shard, kind, body)');
