-- breaking: no
-- Strategies in the code of apps that the engine calls.

alter table ductor.endpoint
  -- [{"name": ..., "version": ...}].
  add column strategies jsonb not null default '[]';
