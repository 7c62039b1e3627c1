import { runBlobs } from '../run-blobs.ts'
import { outboxCursors } from './0006-outbox-cursors.ts'
import { sessionAgents } from './0007-session-agents.ts'
import { listIndexes } from './0008-list-indexes.ts'
import { erasures } from './0009-erasures.ts'
import { blobs } from './0010-blobs.ts'
import { queues } from './0011-queues.ts'
import { schedules } from './0012-schedules.ts'
import { runLog } from './0013-run-log.ts'
import { eventPlaces } from './0014-event-places.ts'
import { smallerIndexes } from './0015-smaller-indexes.ts'

/** The schema, step by step. Steps are never changed, only added. */
export const migrations: readonly string[] = [
  `
create table counters (name text primary key, value integer not null) strict, without rowid;
insert into counters values ('token', 0);

create table sessions (
  tenant text not null, owner text not null, id text not null,
  version integer not null default 0,
  length integer not null default 0,
  status text,
  updated_at integer not null default 0,
  open_turn text,
  token integer not null default 0,
  held_until real not null default 0,
  boot text not null default '',
  primary key (tenant, owner, id)
) strict, without rowid;
create index sessions_by_time on sessions (tenant, updated_at desc);

create table turns (
  tenant text not null, owner text not null, session text not null,
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
  primary key (tenant, owner, session, seq)
) strict;
create unique index turns_by_id on turns (tenant, owner, session, turn_id);
create index turns_by_key on turns (tenant, owner, session, idempotency_key) where idempotency_key is not null;

create table waiting (
  since integer primary key autoincrement,
  tenant text not null, owner text not null, session text not null,
  call_id text not null,
  turn_id text not null,
  name text not null,
  expires_at integer,
  token text not null,
  unique (tenant, owner, session, call_id)
) strict;
create index waiting_by_tenant on waiting (tenant, since);
create index waiting_by_token on waiting (tenant, token);

create table outbox (
  seq integer primary key autoincrement,
  id text not null unique,
  tenant text not null,
  turn_id text not null,
  added_at integer not null,
  body blob not null
) strict;
create table outbox_places (
  consumer text not null,
  seq integer not null,
  held_until real not null,
  boot text not null,
  done integer not null default 0,
  primary key (consumer, seq)
) strict, without rowid;

create table accounts (
  name text primary key,
  spent real not null default 0,
  reserved real not null default 0
) strict, without rowid;
create table holds (
  account text not null,
  id text not null,
  amount real not null,
  settled integer not null default 0,
  at integer not null,
  primary key (account, id)
) strict, without rowid;

create table key_values (
  key text primary key,
  value blob not null,
  expires_at integer
) strict, without rowid;
create index key_values_by_expiry on key_values (expires_at) where expires_at is not null;
`,
  `
alter table accounts add column ends_at integer;
create index accounts_by_end on accounts (ends_at) where ends_at is not null;

alter table holds add column run text;
alter table holds add column expires_at integer;
alter table holds add column freed integer not null default 0;
create index holds_by_run on holds (run) where run is not null and settled = 0;
create index holds_by_expiry on holds (account, expires_at) where settled = 0 and freed = 0 and expires_at is not null;
create index holds_by_time on holds (at) where settled = 1;

create index turns_by_time on turns (tenant, ended_at);
`,
  `
create table event_runs (
  run integer primary key autoincrement,
  tenant text not null, owner text not null, session text not null, turn_id text not null,
  epoch real not null,
  seq integer not null default 0,
  asked integer not null default 0,
  listener integer not null default 0,
  touched_at integer not null,
  ended_at integer,
  unique (tenant, owner, session, turn_id)
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

create table vault (
  tenant text not null, owner text not null, session text not null, layer text not null,
  body blob not null,
  primary key (tenant, owner, session, layer)
) strict, without rowid;

create table audit (
  tenant text not null,
  seq integer not null,
  at integer not null,
  body blob not null,
  digest blob not null,
  primary key (tenant, seq)
) strict, without rowid;
`,
  `
alter table sessions add column run text;

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
  idempotency_key text,
  asked text,
  stop text,
  code text,
  reason text,
  stood integer,
  told integer not null default 0,
  updated_at integer not null,
  task blob,
  unique (tenant, run)
) strict;
create unique index runs_by_key on runs (tenant, owner, session, idempotency_key) where idempotency_key is not null;
create index runs_by_session on runs (tenant, owner, session);
create index runs_due on runs (agent, run_at) where told = 0;

create table steps (
  tenant text not null,
  run text not null,
  id text not null,
  token integer not null,
  body blob not null,
  primary key (tenant, run, id)
) strict, without rowid;
`,
  `
alter table audit add column key text;
create unique index audit_by_key on audit (tenant, key) where key is not null;
`,
  outboxCursors,
  sessionAgents,
  listIndexes,
  erasures,
  blobs,
  runBlobs,
  queues,
  schedules,
  runLog,
  eventPlaces,
  smallerIndexes,
]
