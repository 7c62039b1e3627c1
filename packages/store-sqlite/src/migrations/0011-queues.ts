/**
 * Runs wait in queues. `rank` orders the waiting runs of a tenant; it is null until a run is due. `queue_turns` has the last claim of each
 * tenant, so that tenants take turns. Losing a row of it is harmless. `queue_starts` has the recent starts of queues with a rate limit.
 */
export const queues = `
alter table runs add column queue text not null default 'default';
alter table runs add column priority integer not null default 0;
alter table runs add column rank integer;

drop index runs_due;
create index runs_due on runs (agent, version, run_at) where told = 0;
create index runs_waiting on runs (agent, version, queue, tenant, rank) where status = 'queued' and rank is not null;
create index runs_scheduled on runs (agent, run_at) where status = 'queued' and rank is null;
create index runs_running on runs (agent, queue, tenant) where status = 'running';
create index runs_stopped on runs (agent) where status = 'queued' and stop is not null;
create index runs_unreported on runs (agent, updated_at) where told = 0 and status not in ('queued', 'running');
create index runs_by_end on runs (updated_at) where status not in ('queued', 'running');

create table queue_turns (
  agent text not null, queue text not null, tenant text not null,
  at real not null,
  primary key (agent, queue, tenant)
) strict, without rowid;
create index queue_turns_by_time on queue_turns (agent, queue, at);
create index queue_turns_by_age on queue_turns (at);

create table queue_starts (
  agent text not null, queue text not null, tenant text not null,
  at integer not null,
  expires_at integer not null
) strict;
create index queue_starts_by_time on queue_starts (agent, queue, at);
create index queue_starts_by_tenant on queue_starts (agent, queue, tenant, at);
create index queue_starts_by_expiry on queue_starts (expires_at);
`
