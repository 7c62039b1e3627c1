/** The agent of the session that an unfinished durable run of an earlier version belongs to. */
const agentOfRunningRun = (table: string, id: string) => `
  select r.agent from runs r where r.tenant = ${table}.tenant and r.owner = ${table}.owner and r.session = ${table}.${id}
  and (r.status in ('queued', 'running') or exists (
    select 1 from waiting w where w.tenant = r.tenant and w.owner = r.owner and w.session = r.session and w.turn_id = r.run
  )) order by r.status <> 'running', r.n limit 1`

/**
 * Sessions belong to an agent. Sessions of earlier versions have the agent '' until it is read from their last turn, which may be sealed.
 * If a durable run is unfinished, its row has the agent. Rows that were sealed without an agent have '' in `sealed_as`.
 * Events of earlier runs are deleted: readers would not find them, and a run that continues emits its events again.
 */
export const sessionAgents = `
create temp table agents_of as
select tenant, owner, id as session, coalesce((${agentOfRunningRun('sessions', 'id')}), '') as agent from sessions;
create index temp.agents_of_sessions on agents_of (tenant, owner, session);

create table sessions_by_agent (
  tenant text not null, owner text not null, agent text not null, id text not null,
  version integer not null default 0,
  length integer not null default 0,
  status text,
  updated_at integer not null default 0,
  open_turn text,
  token integer not null default 0,
  held_until real not null default 0,
  boot text not null default '',
  run text,
  primary key (tenant, owner, agent, id)
) strict, without rowid;
insert into sessions_by_agent
  select s.tenant, s.owner, a.agent, s.id, s.version, s.length, s.status, s.updated_at, s.open_turn, s.token, s.held_until, s.boot, s.run
  from sessions s join agents_of a on a.tenant = s.tenant and a.owner = s.owner and a.session = s.id
  where s.status is not null or s.run is not null or a.agent <> '';
drop table sessions;
alter table sessions_by_agent rename to sessions;
create index sessions_by_time on sessions (tenant, updated_at desc);
create index sessions_unclaimed on sessions (tenant, owner, id) where agent = '';

create table turns_by_agent (
  tenant text not null, owner text not null, agent text not null, session text not null,
  seq integer not null,
  turn_id text not null,
  idempotency_key text,
  status text not null,
  started_at integer not null,
  ended_at integer,
  usage text not null,
  start integer not null,
  count integer not null,
  digest text not null,
  messages blob not null,
  rest blob not null,
  info blob not null,
  sealed_as text not null,
  primary key (tenant, owner, agent, session, seq)
) strict;
insert into turns_by_agent
  select t.tenant, t.owner, a.agent, t.session, t.seq, t.turn_id, t.idempotency_key, t.status, t.started_at, t.ended_at, t.usage, t.start,
  t.count, t.digest, t.messages, t.rest, t.info, ''
  from turns t join agents_of a on a.tenant = t.tenant and a.owner = t.owner and a.session = t.session;
drop table turns;
alter table turns_by_agent rename to turns;
create unique index turns_by_id on turns (tenant, owner, agent, session, turn_id);
create index turns_by_key on turns (tenant, owner, agent, session, idempotency_key) where idempotency_key is not null;
create index turns_by_time on turns (tenant, ended_at);

create table waiting_by_agent (
  since integer primary key autoincrement,
  tenant text not null, owner text not null, agent text not null, session text not null,
  call_id text not null,
  turn_id text not null,
  name text not null,
  expires_at integer,
  token text not null,
  unique (tenant, owner, agent, session, call_id)
) strict;
insert into waiting_by_agent
  select w.since, w.tenant, w.owner, a.agent, w.session, w.call_id, w.turn_id, w.name, w.expires_at, w.token
  from waiting w join agents_of a on a.tenant = w.tenant and a.owner = w.owner and a.session = w.session;
drop table waiting;
alter table waiting_by_agent rename to waiting;
create index waiting_by_tenant on waiting (tenant, since);
create index waiting_by_token on waiting (tenant, token);

create table vault_by_agent (
  tenant text not null, owner text not null, agent text not null, session text not null, layer text not null,
  body blob not null,
  sealed_as text not null,
  primary key (tenant, owner, agent, session, layer)
) strict, without rowid;
insert into vault_by_agent
  select v.tenant, v.owner, coalesce(a.agent, ''), v.session, v.layer, v.body, ''
  from vault v left join agents_of a on a.tenant = v.tenant and a.owner = v.owner and a.session = v.session;
drop table vault;
alter table vault_by_agent rename to vault;

alter table runs add column session_agent text not null default '';
alter table runs add column sealed_as text not null default '';
update runs set session_agent = agent;
drop index runs_by_key;
create unique index runs_by_key on runs (tenant, owner, session_agent, session, idempotency_key)
  where idempotency_key is not null;
drop index runs_by_session;
create index runs_by_session on runs (tenant, owner, session_agent, session);
alter table steps add column sealed_as text not null default '';

drop table temp.agents_of;
drop table events;
drop table event_signals;
drop table event_runs;
create table event_runs (
  run integer primary key autoincrement,
  tenant text not null, owner text not null, agent text not null, session text not null, turn_id text not null,
  epoch real not null,
  seq integer not null default 0,
  asked integer not null default 0,
  listener integer not null default 0,
  touched_at integer not null,
  ended_at integer,
  unique (tenant, owner, agent, session, turn_id)
) strict;
create index event_runs_by_end on event_runs (ended_at) where ended_at is not null;
create index event_runs_by_touch on event_runs (touched_at) where ended_at is null;

create table events (
  run integer not null,
  first integer not null,
  count integer not null,
  id text not null,
  body blob not null,
  primary key (run, first)
) strict, without rowid;

create table event_signals (
  run integer not null,
  n integer not null,
  id text,
  dealt integer not null default 0,
  body blob,
  primary key (run, n)
) strict, without rowid;
create index event_signals_by_id on event_signals (run, id);
`
