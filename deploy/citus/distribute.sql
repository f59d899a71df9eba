-- Distributes a migrated, still empty database of Ductor over the nodes of a Citus cluster, by tenant. Run once, as a
-- superuser on the coordinator:
--
--   psql "$DATABASE_URL" --single-transaction --file distribute.sql
--
-- Each tenant's rows lie together, so a commit of one tenant stays on one node. What is asked before a tenant is known
-- is whole on every node; what belongs to shards of engines stays on the coordinator. New tables of later versions are
-- added here; run their lines after the upgrade.

select create_reference_table('ductor.tenants');
select create_reference_table('ductor.api_keys');

select citus_add_local_table_to_metadata('ductor.engine_node');
select citus_add_local_table_to_metadata('ductor.shard_owner');
select citus_add_local_table_to_metadata('ductor.run_crash');
select citus_add_local_table_to_metadata('ductor.run_inbox');

select create_distributed_table('ductor.runs', 'tenant_id', colocate_with => 'none');
select create_distributed_table('ductor.assignment', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.assignment_ending', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.audit', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.capacity_authority', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.capacity_family', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.capacity_reservation', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.claim_budget_usage', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.claim_item', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.claim_queue', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.claim_team_usage', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.endpoint', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.membership', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.payloads', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.pool', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.pool_queue', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.recipient', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.recipient_fact', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.routing_binding', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.routing_decision', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.routing_dedupe', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.routing_document', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.routing_offer', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.routing_request', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.rule', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.run_attribute', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.run_journal', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.run_leftover', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.run_snapshot', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.run_start_key', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.schedule', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.schedule_slot', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.semaphore', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.semaphore_hold', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.semaphore_waiter', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.shadow_decision', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.shadow_due', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.shadow_state', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.sla_clock', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.strategy_state', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.waiting_work', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.workflow', 'tenant_id', colocate_with => 'ductor.runs');
select create_distributed_table('ductor.workflow_version', 'tenant_id', colocate_with => 'ductor.runs');
