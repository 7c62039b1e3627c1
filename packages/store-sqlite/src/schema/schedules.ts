/** Schedules of durable runs. A schedule is claimed from `due_at` on, which is its next tick, or later while a process has it. */
export const schedules = `
create table schedules (
  tenant text not null, owner text not null, id text not null,
  agent text not null,
  cron text not null, tz text not null, missed text not null,
  session text,
  request blob not null,
  next_at integer, due_at integer,
  paused text,
  last_at integer, last_run text,
  revision integer not null default 1,
  token integer not null,
  primary key (tenant, owner, id)
) strict, without rowid;
create index schedules_due on schedules (agent, due_at) where due_at is not null;
`
