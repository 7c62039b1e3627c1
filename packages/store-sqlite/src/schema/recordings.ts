/**
 * Recorded turns. Their number `n` makes the order of lists unique, and the indexes contain it. Lists read the index of their order from
 * the cursor on, for an agent in all tenants and in one.
 */
export const recordings = `
create table recordings (
  n integer primary key,
  tenant text not null, owner text not null, agent text not null, session text not null, turn_id text not null,
  started_at integer not null,
  expires_at integer not null,
  bytes integer not null,
  token integer not null,
  body blob not null,
  unique (tenant, owner, agent, session, turn_id)
) strict;
create index recordings_by_agent on recordings (agent, started_at);
create index recordings_by_tenant on recordings (agent, tenant, started_at);
create index recordings_by_expiry on recordings (expires_at);
`
