/**
 * Sessions of agents, their turns, and the calls that wait for an answer. `sealed_as` is the agent of the session when the row was sealed;
 * it differs from `agent` after a rename. The index of turns by their end has no open turns, so that a checkpoint does not write it. Lists
 * are read in index order from their cursor on, for a tenant and for one of its owners.
 *
 * Between two turns that rewind, each turn starts after the one before, so a page of the history finds its newest turn by a binary search.
 *
 * The row of an open turn has its first checkpoint. `turn_parts` has what later ones add, in order: the key is the number of the turn in the
 * upper 32 bits. The turn that ends has all of it, so its parts are deleted.
 */
export const sessions = `
create table counters (name text primary key, value integer not null) strict, without rowid;
insert into counters values ('token', 0);

create table sessions (
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
create index sessions_by_time on sessions (tenant, updated_at desc, owner, agent, id);
create index sessions_by_owner on sessions (tenant, owner, updated_at desc, agent, id);

create trigger session_added after insert on sessions begin
  update counters set value = max(value, new.token) where name = 'token';
end;
create trigger session_taken after update of token on sessions begin
  update counters set value = max(value, new.token) where name = 'token';
end;

create table turns (
  n integer primary key,
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
  rewinds integer not null,
  unique (tenant, owner, agent, session, seq)
) strict;
create index turns_rewinding on turns (tenant, owner, agent, session, seq) where rewinds = 1;
create unique index turns_by_id on turns (tenant, owner, agent, session, turn_id);
create index turns_by_key on turns (tenant, owner, agent, session, idempotency_key) where idempotency_key is not null;
create index turns_by_time on turns (tenant, ended_at) where ended_at is not null;

create table turn_parts (
  place integer primary key,
  count integer not null,
  body blob not null
) strict;
create trigger turn_deleted after delete on turns begin
  delete from turn_parts where place between old.n << 32 and old.n << 32 | 4294967295;
end;
create trigger turn_replaced after update of messages on turns begin
  delete from turn_parts where place between old.n << 32 and old.n << 32 | 4294967295;
end;

create table pending_calls (
  n integer primary key autoincrement,
  tenant text not null, owner text not null, agent text not null, session text not null,
  call_id text not null,
  turn_id text not null,
  name text not null,
  expires_at integer,
  token text not null,
  unique (tenant, owner, agent, session, call_id)
) strict;
create index pending_calls_by_tenant on pending_calls (tenant, n);
create index pending_calls_by_token on pending_calls (tenant, token);
`
