/** Durable runs and their steps. A session stores its current run. */
export const runTables = `
alter table {s}.sessions add column run text collate "C";

create table {s}.runs (
  n bigint generated always as identity primary key,
  tenant text collate "C" not null,
  owner text collate "C" not null,
  session text collate "C" not null,
  run text collate "C" not null,
  agent text collate "C" not null,
  version text collate "C" not null,
  status text not null,
  run_at double precision not null,
  attempts integer not null default 0,
  token bigint not null default 0,
  idempotency_key text collate "C",
  asked text not null,
  stop text,
  code text,
  reason text,
  stood integer,
  told boolean not null default false,
  updated_at double precision not null,
  task bytea,
  unique (tenant, run)
) with (fillfactor = 80);
create index runs_by_key on {s}.runs (tenant, owner, session, hashtextextended(idempotency_key, 0))
  where idempotency_key is not null;
create index runs_by_session on {s}.runs (tenant, owner, session);
create index runs_by_tenant on {s}.runs (tenant, n);
create index runs_due on {s}.runs (agent, run_at) where not told;
create index runs_by_end on {s}.runs (updated_at) where status not in ('queued', 'running');

create table {s}.steps (
  tenant text collate "C" not null,
  run text collate "C" not null,
  id text collate "C" not null,
  token bigint not null,
  body bytea not null,
  primary key (tenant, run, id),
  foreign key (tenant, run) references {s}.runs (tenant, run) on delete cascade
);
`
