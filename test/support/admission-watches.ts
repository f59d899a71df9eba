/** Triggers that say what must never be committed, into the table ductor.test_violation. */

/** Statements that make the triggers. Written by the transaction that does it: what is rolled back was never so. */
export const WATCHES: readonly string[] = [
  `create or replace function ductor.test_watch_account() returns trigger language plpgsql as $$
  declare most integer; daily integer;
  begin
    select (fields -> 'capacity' ->> 'max_concurrent')::integer, (fields -> 'capacity' ->> 'daily_limit')::integer
      into most, daily from ductor.recipient where tenant_id = new.tenant_id and recipient_id = new.recipient_id;
    if most > 0 and new.held > old.held and new.held + new.committed > most then
      insert into ductor.test_violation values ('above its limit');
    end if;
    if daily > 0 and new.daily_admitted > old.daily_admitted and new.daily_admitted > daily then
      insert into ductor.test_violation values ('above the limit of its day');
    end if;
    if new.day = old.day and new.daily_admitted < old.daily_admitted then
      insert into ductor.test_violation values ('a day was refunded');
    end if;
    if new.day < old.day then insert into ductor.test_violation values ('a day went back'); end if;
    return null;
  end $$`,
  `create or replace trigger test_watch_account after update on ductor.capacity_authority
    for each row execute function ductor.test_watch_account()`,
  `create or replace function ductor.test_watch_release() returns trigger language plpgsql as $$
  begin
    if exists (with recursive below as (
        select run_id, closed_at from ductor.runs where run_id = old.chain_id
        union all
        select r.run_id, r.closed_at from below b join ductor.runs r on r.parent_id = b.run_id)
      select 1 from below where closed_at is null) then
      insert into ductor.test_violation values ('released while somebody below was open');
    end if;
    return null;
  end $$`,
  'drop trigger if exists test_watch_release on ductor.capacity_reservation',
  `create constraint trigger test_watch_release after delete on ductor.capacity_reservation
    deferrable initially deferred for each row execute function ductor.test_watch_release()`,
];
