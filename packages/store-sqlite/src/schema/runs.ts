import { stepInLog } from '@allium/store-sql'
import { deleteHolders } from './blobs.ts'

const isLive = (row: string) => `${row}.status in ('queued', 'running')`
const nextOf = (run: string) => `(select coalesce(max(n), 0) + 1 from run_log where run = ${run})`
const entry = (kind: string, columns = '', values = '') =>
  `insert into run_log (run, n, at, kind${columns}) values (new.n, ${nextOf('new.n')}, new.updated_at, '${kind}'${values});`

/** Adds an entry without a trigger, because its time is in no row: time, tenant, run. */
export const logStop = `insert into run_log (run, n, at, kind) select n, ${nextOf('runs.n')}, ?, 'stop' from runs where tenant = ? and run = ?`

/**
 * Durable runs, their steps, and their timeline for operators: when a run was added, claimed, stopped, retried and ended, and when each step
 * was recorded. The timeline outlives the steps, and is deleted with its run. `rank` orders the waiting runs of a tenant; it is null until a
 * run is due. A run that is claimed as it is added is never queued. Runs of the same code share its shape. A run that is over leaves
 * its session. If it ended with its turn, its steps are deleted, too. If it was given up, it has a reason and keeps them, and its lease ends.
 */
export const runs = `
create table runs (
  n integer primary key autoincrement,
  tenant text not null, owner text not null, session text not null,
  run text not null,
  agent text not null,
  version text not null,
  status text not null,
  run_at integer not null,
  attempts integer not null default 0,
  token integer not null default 0,
  worker text,
  idempotency_key text,
  fingerprint text not null,
  stop text,
  code text,
  reason text,
  session_version integer,
  reported integer not null default 0,
  updated_at integer not null,
  task blob,
  shape text,
  session_agent text not null,
  sealed_as text not null,
  queue text not null default 'default',
  priority integer not null default 0,
  rank integer,
  unique (run, tenant)
) strict;
create unique index runs_by_key on runs (tenant, owner, session_agent, session, idempotency_key)
  where idempotency_key is not null;
create index runs_by_session on runs (tenant, owner, session_agent, session);
create index runs_due on runs (agent, version, run_at) where reported = 0;
create index runs_waiting on runs (agent, version, queue, tenant, rank) where status = 'queued' and rank is not null;
create index runs_scheduled on runs (agent, run_at) where status = 'queued' and rank is null;
create index runs_running on runs (agent, queue, tenant) where status = 'running';
create index runs_stopped on runs (agent) where status = 'queued' and stop is not null;
create index runs_unreported on runs (agent, updated_at) where reported = 0 and status not in ('queued', 'running');
create index runs_by_status on runs (status, updated_at);

create table run_shapes (
  n integer primary key,
  digest text not null unique,
  body text not null
) strict;

create table steps (
  tenant text not null,
  run text not null,
  id text not null,
  token integer not null,
  body blob not null,
  sealed_as text not null,
  at integer not null,
  primary key (tenant, run, id)
) strict, without rowid;

create table run_log (
  run integer not null,
  n integer not null,
  at integer not null,
  kind text not null,
  detail text,
  attempt integer,
  code text,
  primary key (run, n)
) strict, without rowid;

create trigger run_added after insert on runs begin
  ${entry('added')}
  insert into run_log (run, n, at, kind, attempt, detail)
    select new.n, 2, new.updated_at, 'claimed', new.attempts, new.worker where new.status = 'running';
end;
create trigger step_recorded after insert on steps begin
  insert into run_log (run, n, at, kind, detail)
    select n, ${nextOf('runs.n')}, new.at, 'step', ${stepInLog('new')} from runs where tenant = new.tenant and run = new.run;
end;
create trigger run_claimed after update of token on runs when new.status = 'running' and old.token <> new.token begin
  ${entry('claimed', ', attempt, detail', ', new.attempts, new.worker')}
end;
create trigger run_retried after update of status on runs when new.status = 'queued' and not ${isLive('old')} begin
  ${entry('retried')}
end;
create trigger run_ended after update of status on runs when not ${isLive('new')} and old.status <> new.status begin
  ${entry('ended', ', detail, code', ', new.status, new.code')}
end;
create trigger run_over after update of status on runs when ${isLive('old')} and not ${isLive('new')} begin
  update sessions set run = null, held_until = iif(new.reason is null, held_until, 0), token = iif(new.reason is null, token, -token)
    where tenant = new.tenant and owner = new.owner and agent = new.session_agent and id = new.session and run = new.run;
end;
create trigger run_stored after update of status on runs
when ${isLive('old')} and not ${isLive('new')} and new.reason is null begin
  delete from steps where tenant = new.tenant and run = new.run;
  ${deleteHolders('old.run', "'step'", 'old.session_agent')}
end;
create trigger run_reported after update of ended_at on event_runs when new.ended_at is not null begin
  update runs set reported = 1 where tenant = new.tenant and run = new.turn_id and token = new.epoch
    and status not in ('queued', 'running');
end;
create trigger run_gone after delete on runs begin
  delete from steps where tenant = old.tenant and run = old.run;
  delete from run_log where run = old.n;
  ${deleteHolders('old.run', "'task', 'step'", 'old.session_agent')}
end;
`
