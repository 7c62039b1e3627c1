/**
 * Durable runs, their steps, and their timeline for operators, which outlives the steps. `rank` orders the waiting runs of a tenant; it is
 * null until a run is due. Names are hashed where several of them would be too long for an index.
 */
export const runTables = `
create table {s}.runs (
  n bigint generated always as identity primary key,
  tenant text collate "C" not null,
  owner text collate "C" not null,
  session_agent text collate "C" not null,
  session text collate "C" not null,
  run text collate "C" not null,
  agent text collate "C" not null,
  version text collate "C" not null,
  status text not null,
  run_at double precision not null,
  attempts integer not null default 0,
  token bigint not null default 0,
  worker text,
  idempotency_key text collate "C",
  fingerprint text not null,
  stop text,
  code text,
  reason text,
  session_version integer,
  reported boolean not null default false,
  updated_at double precision not null,
  task bytea,
  shape text,
  sealed_as text collate "C" not null,
  queue text collate "C" not null default 'default',
  priority integer not null default 0,
  rank double precision,
  unique (tenant, run)
) with (fillfactor = 80);
create index runs_by_id on {s}.runs (left(run, 64));
create index runs_by_key on {s}.runs (tenant, owner, session, hashtextextended(idempotency_key, 0))
  where idempotency_key is not null;
create index runs_by_session on {s}.runs (session, owner, tenant);
create index runs_by_status on {s}.runs (status, updated_at);
create index runs_by_tenant on {s}.runs (hashtextextended(tenant, 0), n);
create index runs_due on {s}.runs (agent, hashtextextended(version, 0), run_at) where not reported;
create index runs_waiting on {s}.runs (hashtextextended(queue, hashtextextended(version, hashtextextended(agent, 0))), tenant, rank, n)
  where status = 'queued' and rank is not null;
create index runs_scheduled on {s}.runs (agent, run_at) where status = 'queued' and rank is null;
create index runs_running on {s}.runs (agent, hashtextextended(queue, 0), hashtextextended(tenant, 0)) where status = 'running';
create index runs_stopped on {s}.runs (agent) where status = 'queued' and stop is not null;
create index runs_unreported on {s}.runs (agent, updated_at) where not reported and status not in ('queued', 'running');

create table {s}.steps (
  tenant text collate "C" not null,
  run text collate "C" not null,
  id text collate "C" not null,
  token bigint not null,
  body bytea not null,
  sealed_as text collate "C" not null,
  primary key (tenant, run, id),
  foreign key (tenant, run) references {s}.runs (tenant, run) on delete cascade
);

create table {s}.run_shapes (
  n bigint generated always as identity primary key,
  digest text not null unique,
  body text not null
);

create table {s}.run_log (
  run bigint not null,
  n bigint generated always as identity,
  at double precision not null,
  kind text not null,
  detail text,
  attempt integer,
  code text,
  primary key (run, n)
);
`
