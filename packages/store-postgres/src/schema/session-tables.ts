/**
 * Sessions of agents, their turns, and the calls that wait for an answer. `sealed_as` is the agent of the session when the row was sealed; it
 * differs from `agent` after a rename. A session stores its current durable run. The row of an open turn, which has the `seq` -1, has its
 * first checkpoint. `turn_parts` has what later ones add, in order. Between two turns that rewind, each turn starts after the one before, so a
 * page of the history finds its newest turn by a binary search.
 *
 * At most one index of a table begins with the tenant. With two, the planner may use either one while the table is small and keep that
 * plan in the functions, and then each turn reads all rows of its tenant.
 */
export const sessionTables = `
create table {s}.sessions (
  tenant text collate "C" not null,
  owner text collate "C" not null,
  agent text collate "C" not null,
  id text collate "C" not null,
  version integer not null default 0,
  length integer not null default 0,
  status text,
  updated_at double precision not null default 0,
  open_turn text,
  token bigint not null default nextval('{s}.tokens'),
  held_until double precision not null default 0,
  run text collate "C",
  primary key (tenant, owner, agent, id)
) with (fillfactor = 80);
create index sessions_by_time on {s}.sessions (hashtextextended(tenant, 0), updated_at desc);
create index sessions_by_owner on {s}.sessions (hashtextextended(owner, 0), tenant, updated_at desc);

create table {s}.turns (
  tenant text collate "C" not null,
  owner text collate "C" not null,
  agent text collate "C" not null,
  session text collate "C" not null,
  seq integer not null,
  turn_id text collate "C" not null,
  idempotency_key text collate "C",
  status text not null,
  started_at double precision not null,
  ended_at double precision,
  usage text not null,
  start integer not null,
  count integer not null,
  digest text not null,
  messages bytea not null,
  rest bytea not null,
  info bytea not null,
  sealed_as text collate "C" not null,
  rewinds boolean not null,
  primary key (tenant, owner, agent, session, seq),
  foreign key (tenant, owner, agent, session) references {s}.sessions (tenant, owner, agent, id)
    on update cascade on delete cascade
);
create index turns_by_time on {s}.turns (hashtextextended(tenant, 0), ended_at);
create index turns_by_id on {s}.turns (hashtextextended(turn_id, 0), session, owner, tenant);
create index turns_by_key on {s}.turns (tenant, owner, session, hashtextextended(idempotency_key, 0))
  where idempotency_key is not null;
create index turns_rewinding on {s}.turns (tenant, owner, agent, session, seq) where rewinds;

create table {s}.turn_parts (
  tenant text collate "C" not null,
  owner text collate "C" not null,
  agent text collate "C" not null,
  session text collate "C" not null,
  n integer not null,
  count integer not null,
  body bytea not null,
  seq integer not null default -1,
  primary key (tenant, owner, agent, session, n),
  foreign key (tenant, owner, agent, session, seq) references {s}.turns (tenant, owner, agent, session, seq)
    on update cascade on delete cascade
);

create table {s}.pending_calls (
  n bigint generated always as identity primary key,
  tenant text collate "C" not null,
  owner text collate "C" not null,
  agent text collate "C" not null,
  session text collate "C" not null,
  call_id text collate "C" not null,
  turn_id text not null,
  name text not null,
  expires_at double precision,
  token text not null,
  foreign key (tenant, owner, agent, session) references {s}.sessions (tenant, owner, agent, id)
    on update cascade on delete cascade
);
create index pending_calls_by_session on {s}.pending_calls (tenant, owner, session);
create index pending_calls_by_tenant on {s}.pending_calls (hashtextextended(tenant, 0), n);
create index pending_calls_by_token on {s}.pending_calls (token, tenant);
`
