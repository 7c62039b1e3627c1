/** Events of runs, and the signals to them. */
export const eventTables = `
create table {s}.event_runs (
  run bigint generated always as identity primary key,
  tenant text collate "C" not null,
  owner text collate "C" not null,
  agent text collate "C" not null,
  session text collate "C" not null,
  turn_id text collate "C" not null,
  epoch double precision not null,
  seq integer not null default 0,
  last_signal integer not null default 0,
  listener integer not null default 0,
  touched_at double precision not null,
  ended_at double precision,
  request text collate "C",
  token bigint not null default 0,
  unique (tenant, owner, agent, session, turn_id)
) with (fillfactor = 70);
create index event_runs_by_end on {s}.event_runs (ended_at) where ended_at is not null;

create table {s}.events (
  run bigint not null references {s}.event_runs on delete cascade,
  first integer not null,
  count integer not null,
  id text not null,
  body bytea not null,
  primary key (run, first)
);

create table {s}.event_signals (
  run bigint not null references {s}.event_runs on delete cascade,
  n integer not null,
  id text collate "C",
  acknowledged boolean not null default false,
  body bytea,
  primary key (run, n)
);
create index event_signals_by_id on {s}.event_signals (run, id);
`
