/** Recorded turns. Their number `n` makes the order of lists unique. */
export const recordings = `
create table {s}.recordings (
  n bigint generated always as identity primary key,
  tenant text collate "C" not null,
  owner text collate "C" not null,
  agent text collate "C" not null,
  session text collate "C" not null,
  turn_id text collate "C" not null,
  started_at double precision not null,
  expires_at double precision not null,
  bytes integer not null,
  token bigint not null,
  body bytea not null,
  unique (tenant, owner, agent, session, turn_id)
);
create index recordings_by_agent on {s}.recordings (agent, started_at, n);
create index recordings_by_tenant on {s}.recordings (agent, tenant, started_at, n);
create index recordings_by_expiry on {s}.recordings (expires_at);
`
