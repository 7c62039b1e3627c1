/**
 * Durable runs wait in queues. `queue_turns` has the last claim of each tenant, so that tenants take turns. Losing a row of it is harmless.
 * `queue_starts` has the recent starts of queues with a rate limit.
 */
export const queues = `
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
