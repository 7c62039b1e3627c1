-- The schema of src/schema. Written by: vitest run packages/store-sqlite/test/current-schema.test.ts -u

CREATE TRIGGER blob_unheld after delete on blob_holders
when not exists (
  select 1 from blob_holders where tenant = old.tenant and owner = old.owner and digest = old.digest
) begin
  insert or ignore into unheld_blobs values (old.tenant, old.owner, old.digest);
end;

CREATE TRIGGER events_appended after insert on events begin
  update event_runs set epoch = new.epoch, seq = seq + new.count, touched_at = new.at, ended_at = iif(new.ends, new.at, null)
  where run = new.run;
end;

CREATE TRIGGER events_gone after delete on event_runs begin
  delete from events where place between old.run << 32 and old.run << 32 | 4294967295;
  delete from event_signals where run = old.run;
  delete from blob_holders
    where tenant = old.tenant and owner = old.owner and agent = old.agent and session = old.session and kind in ('event') and holder = old.turn_id;
end;

CREATE TRIGGER hold_changed after update of settled, freed on holds
when old.settled <> new.settled or old.freed <> new.freed begin
  update accounts set spent = spent + new.spent,
    reserved = max(0, reserved - old.amount * (1 - old.freed) + new.amount * (1 - new.freed) * (1 - new.settled))
    where name = new.account;
end;

CREATE TRIGGER hold_made after insert on holds begin
  insert into accounts (name) values (new.account) on conflict do nothing;
  update accounts set reserved = reserved + new.amount where name = new.account;
  update accounts set ends_at = new.account_ends_at where name = new.account and new.account_ends_at is not null
    and (ends_at is null or ends_at not between new.account_ends_at and new.account_ends_at + 1000);
end;

CREATE TRIGGER passage_deleted after delete on passages begin
  delete from passage_terms where rowid = old.n;
  delete from passage_vectors where n = old.n;
  update counters set value = value + 1 where name = 'passages';
end;

CREATE TRIGGER record_gone after delete on outbox begin
  delete from blob_holders where kind = 'record' and holder = old.id and tenant = old.tenant;
end;

CREATE TRIGGER run_added after insert on runs begin
  insert into run_log (run, n, at, kind) values (new.n, (select coalesce(max(n), 0) + 1 from run_log where run = new.n), new.updated_at, 'added');
  insert into run_log (run, n, at, kind, attempt, detail)
    select new.n, 2, new.updated_at, 'claimed', new.attempts, new.worker where new.status = 'running';
end;

CREATE TRIGGER run_claimed after update of token on runs when new.status = 'running' and old.token <> new.token begin
  insert into run_log (run, n, at, kind, attempt, detail) values (new.n, (select coalesce(max(n), 0) + 1 from run_log where run = new.n), new.updated_at, 'claimed', new.attempts, new.worker);
end;

CREATE TRIGGER run_ended after update of status on runs when not new.status in ('queued', 'running') and old.status <> new.status begin
  insert into run_log (run, n, at, kind, detail, code) values (new.n, (select coalesce(max(n), 0) + 1 from run_log where run = new.n), new.updated_at, 'ended', new.status, new.code);
end;

CREATE TRIGGER run_gone after delete on runs begin
  delete from steps where tenant = old.tenant and run = old.run;
  delete from run_log where run = old.n;
  delete from blob_holders
    where tenant = old.tenant and owner = old.owner and agent = old.session_agent and session = old.session and kind in ('task', 'step') and holder = old.run;
end;

CREATE TRIGGER run_over after update of status on runs when old.status in ('queued', 'running') and not new.status in ('queued', 'running') begin
  update sessions set run = null, held_until = iif(new.reason is null, held_until, 0), token = iif(new.reason is null, token, -token)
    where tenant = new.tenant and owner = new.owner and agent = new.session_agent and id = new.session and run = new.run;
end;

CREATE TRIGGER run_reported after update of ended_at on event_runs when new.ended_at is not null begin
  update runs set reported = 1 where tenant = new.tenant and run = new.turn_id and token = new.epoch
    and status not in ('queued', 'running');
end;

CREATE TRIGGER run_retried after update of status on runs when new.status = 'queued' and not old.status in ('queued', 'running') begin
  insert into run_log (run, n, at, kind) values (new.n, (select coalesce(max(n), 0) + 1 from run_log where run = new.n), new.updated_at, 'retried');
end;

CREATE TRIGGER run_stored after update of status on runs
when old.status in ('queued', 'running') and not new.status in ('queued', 'running') and new.reason is null begin
  delete from steps where tenant = new.tenant and run = new.run;
  delete from blob_holders
    where tenant = old.tenant and owner = old.owner and agent = old.session_agent and session = old.session and kind in ('step') and holder = old.run;
end;

CREATE TRIGGER session_added after insert on sessions begin
  update counters set value = max(value, new.token) where name = 'token';
end;

CREATE TRIGGER session_taken after update of token on sessions begin
  update counters set value = max(value, new.token) where name = 'token';
end;

CREATE TRIGGER step_recorded after insert on steps begin
  insert into run_log (run, n, at, kind, detail)
    select n, (select coalesce(max(n), 0) + 1 from run_log where run = runs.n), new.at, 'step', case when substr(new.id, 1, length(new.run) + 1) = new.run || ':' then substr(new.id, length(new.run) + 1) else new.id end from runs where tenant = new.tenant and run = new.run;
end;

CREATE TRIGGER task_gone after update of task on runs when old.task is not null and new.task is null begin
  delete from blob_holders
    where tenant = old.tenant and owner = old.owner and agent = old.session_agent and session = old.session and kind in ('task') and holder = old.run;
end;

CREATE TRIGGER turn_deleted after delete on turns begin
  delete from turn_parts where place between old.n << 32 and old.n << 32 | 4294967295;
end;

CREATE TRIGGER turn_replaced after update of messages on turns begin
  delete from turn_parts where place between old.n << 32 and old.n << 32 | 4294967295;
end;

CREATE TABLE accounts (
  name text primary key,
  spent real not null default 0,
  reserved real not null default 0,
  ends_at integer
) strict, without rowid;

CREATE TABLE audit (
  tenant text not null,
  seq integer not null,
  at integer not null,
  body blob not null,
  digest blob not null,
  key text,
  primary key (tenant, seq)
) strict, without rowid;

CREATE TABLE blob_holders (
  tenant text not null, owner text not null, agent text not null, session text not null,
  kind text not null,
  holder text not null,
  digest text not null,
  at integer not null,
  primary key (tenant, owner, agent, session, kind, holder, digest)
) strict, without rowid;

CREATE TABLE blobs (
  tenant text not null, owner text not null,
  digest text not null,
  piece integer not null,
  body blob not null,
  primary key (tenant, owner, digest, piece)
) strict;

CREATE TABLE counters (name text primary key, value integer not null) strict, without rowid;

CREATE TABLE erasures (
  subject text primary key,
  token integer not null,
  at integer not null,
  expires_at integer not null
) strict, without rowid;

CREATE TABLE event_runs (
  run integer primary key,
  tenant text not null, owner text not null, agent text not null, session text not null, turn_id text not null,
  epoch real not null,
  seq integer not null default 0,
  last_signal integer not null default 0,
  listener integer not null default 0,
  touched_at integer not null,
  ended_at integer,
  token integer not null default 0,
  unique (tenant, owner, agent, session, turn_id)
) strict;

CREATE TABLE event_signals (
  run integer not null,
  n integer not null,
  id text,
  acknowledged integer not null default 0,
  body blob,
  primary key (run, n)
) strict, without rowid;

CREATE TABLE events (
  place integer primary key,
  count integer not null,
  id text not null,
  body blob not null,
  run integer not null,
  epoch real not null,
  at integer not null,
  ends integer not null
) strict;

CREATE TABLE feedback (
  n integer primary key,
  tenant text not null, owner text not null, agent text not null, session text not null, turn_id text not null,
  author text not null, score real not null, at integer not null, token integer not null, body blob,
  unique (tenant, owner, agent, session, turn_id, author)
) strict;

CREATE TABLE holds (
  account text not null,
  id text not null,
  amount real not null,
  spent real not null default 0,
  settled integer not null default 0,
  at integer not null,
  run text,
  expires_at integer,
  account_ends_at integer,
  freed integer not null default 0,
  names text,
  tenant text,
  owner text,
  token integer not null default 0,
  primary key (account, id)
) strict, without rowid;

CREATE TABLE key_values (
  key text primary key,
  value blob not null,
  expires_at integer,
  tenant text,
  owner text,
  token integer not null default 0
) strict, without rowid;

CREATE TABLE outbox (
  seq integer primary key autoincrement,
  id text not null unique,
  tenant text not null, owner text not null,
  token integer not null,
  turn_id text not null,
  added_at integer not null,
  body blob not null,
  since real not null
) strict;

CREATE TABLE outbox_clock (
  one integer primary key check (one = 1),
  elapsed real not null,
  monotonic real not null,
  boot text not null,
  seen_at integer not null
) strict;

CREATE TABLE outbox_cursors (consumer text primary key, seen integer not null) strict, without rowid;

CREATE TABLE outbox_deliveries (
  consumer text not null,
  seq integer not null,
  held_until real not null,
  boot text not null,
  done integer not null default 0,
  primary key (consumer, seq)
) strict, without rowid;

CREATE VIRTUAL TABLE passage_postings using fts5vocab('passage_terms', 'instance');

CREATE VIRTUAL TABLE passage_terms using fts5(terms, content = '', contentless_delete = 1, tokenize = 'ascii');

CREATE TABLE 'passage_terms_config'(k PRIMARY KEY, v) WITHOUT ROWID;

CREATE TABLE 'passage_terms_data'(id INTEGER PRIMARY KEY, block BLOB);

CREATE TABLE 'passage_terms_docsize'(id INTEGER PRIMARY KEY, sz BLOB, origin INTEGER);

CREATE TABLE 'passage_terms_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;

CREATE TABLE passage_vectors (n integer primary key, model text not null, vector blob not null) strict;

CREATE TABLE passages (
  n integer primary key,
  tenant text not null, owner text not null, agent text not null, session text not null,
  position integer not null, idx integer not null, seq integer not null,
  role text not null, author text not null, at integer not null, words integer not null, flow integer not null
) strict;

CREATE TABLE pending_calls (
  n integer primary key autoincrement,
  tenant text not null, owner text not null, agent text not null, session text not null,
  call_id text not null,
  turn_id text not null,
  name text not null,
  expires_at integer,
  token text not null,
  unique (tenant, owner, agent, session, call_id)
) strict;

CREATE TABLE queue_starts (
  agent text not null, queue text not null, tenant text not null,
  at integer not null,
  expires_at integer not null
) strict;

CREATE TABLE queue_turns (
  agent text not null, queue text not null, tenant text not null,
  at real not null,
  primary key (agent, queue, tenant)
) strict, without rowid;

CREATE TABLE recordings (
  n integer primary key,
  tenant text not null, owner text not null, agent text not null, session text not null, turn_id text not null,
  started_at integer not null,
  expires_at integer not null,
  bytes integer not null,
  token integer not null,
  body blob not null,
  unique (tenant, owner, agent, session, turn_id)
) strict;

CREATE TABLE rollout_turns (
  n integer primary key,
  rollout text not null, round integer not null, user text not null, turn text not null,
  tenant text not null, owner text not null, token integer not null,
  changed integer not null, size integer not null, closes_at integer, settled integer not null, score real,
  unique (rollout, user, round, turn)
) strict;

CREATE TABLE rollouts (
  name text primary key,
  round integer not null, started_at integer not null, max_drop real, alpha real,
  stopped_at integer, stopped_by text, good_at integer,
  counts text not null
) strict, without rowid;

CREATE TABLE run_log (
  run integer not null,
  n integer not null,
  at integer not null,
  kind text not null,
  detail text,
  attempt integer,
  code text,
  primary key (run, n)
) strict, without rowid;

CREATE TABLE run_shapes (
  n integer primary key,
  digest text not null unique,
  body text not null
) strict;

CREATE TABLE runs (
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

CREATE TABLE schedules (
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

CREATE TABLE scopes (
  tenant text not null, owner text not null, key blob, off integer,
  primary key (tenant, owner)
) strict, without rowid;

CREATE TABLE secrets (name text primary key, key blob not null) strict, without rowid;

CREATE TABLE sessions (
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

CREATE TABLE sqlite_sequence(name,seq);

CREATE TABLE steps (
  tenant text not null,
  run text not null,
  id text not null,
  token integer not null,
  body blob not null,
  sealed_as text not null,
  at integer not null,
  primary key (tenant, run, id)
) strict, without rowid;

CREATE TABLE turn_parts (
  place integer primary key,
  count integer not null,
  body blob not null
) strict;

CREATE TABLE turns (
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

CREATE TABLE unheld_blobs (
  tenant text not null, owner text not null,
  digest text not null,
  primary key (tenant, owner, digest)
) strict, without rowid;

CREATE TABLE usage_totals (
  subject text not null,
  day text not null,
  runs integer not null,
  estimated integer not null,
  inputtokens real not null, outputtokens real not null, cachedinputtokens real not null,
  cachewritetokens real not null, reasoningtokens real not null, calls real not null,
  primary key (subject, day)
) strict, without rowid;

CREATE TABLE vault (
  tenant text not null, owner text not null, agent text not null, session text not null, layer text not null,
  body blob not null,
  sealed_as text not null,
  token integer not null default 0,
  primary key (tenant, owner, agent, session, layer)
) strict, without rowid;

CREATE INDEX accounts_by_end on accounts (ends_at) where ends_at is not null;

CREATE UNIQUE INDEX audit_by_key on audit (tenant, key) where key is not null;

CREATE INDEX blob_holders_by_digest on blob_holders (tenant, owner, digest);

CREATE INDEX blob_records on blob_holders (holder) where kind = 'record';

CREATE INDEX blob_writes on blob_holders (at) where kind = 'write';

CREATE INDEX event_runs_by_end on event_runs (ended_at) where ended_at is not null;

CREATE INDEX event_runs_by_touch on event_runs (touched_at) where ended_at is null;

CREATE INDEX event_signals_by_id on event_signals (run, id);

CREATE INDEX feedback_by_agent on feedback (agent, at);

CREATE INDEX feedback_by_author on feedback (author, tenant);

CREATE INDEX feedback_by_tenant on feedback (tenant, agent, at);

CREATE INDEX holds_by_expiry on holds (account, expires_at) where settled = 0 and freed = 0 and expires_at is not null;

CREATE INDEX holds_by_run on holds (run) where run is not null and settled = 0;

CREATE INDEX holds_by_time on holds (at) where settled = 1;

CREATE INDEX key_values_by_expiry on key_values (expires_at) where expires_at is not null;

CREATE INDEX key_values_by_owner on key_values (tenant, owner) where tenant is not null;

CREATE INDEX outbox_by_age on outbox (since);

CREATE INDEX outbox_by_owner on outbox (tenant, owner);

CREATE INDEX outbox_deliveries_by_seq on outbox_deliveries (seq);

CREATE INDEX outbox_deliveries_open on outbox_deliveries (consumer, seq) where done = 0;

CREATE INDEX passages_by_place on passages (tenant, owner, agent, session, position, idx, words);

CREATE INDEX pending_calls_by_tenant on pending_calls (tenant, n);

CREATE INDEX pending_calls_by_token on pending_calls (tenant, token);

CREATE INDEX queue_starts_by_expiry on queue_starts (expires_at);

CREATE INDEX queue_starts_by_tenant on queue_starts (agent, queue, tenant, at);

CREATE INDEX queue_starts_by_time on queue_starts (agent, queue, at);

CREATE INDEX queue_turns_by_age on queue_turns (at);

CREATE INDEX queue_turns_by_time on queue_turns (agent, queue, at);

CREATE INDEX recordings_by_agent on recordings (agent, started_at);

CREATE INDEX recordings_by_expiry on recordings (expires_at);

CREATE INDEX recordings_by_tenant on recordings (agent, tenant, started_at);

CREATE INDEX rollout_turns_by_end on rollout_turns (rollout, closes_at);

CREATE INDEX rollout_turns_by_owner on rollout_turns (tenant, owner);

CREATE INDEX rollout_turns_by_turn on rollout_turns (rollout, turn);

CREATE UNIQUE INDEX runs_by_key on runs (tenant, owner, session_agent, session, idempotency_key)
  where idempotency_key is not null;

CREATE INDEX runs_by_session on runs (tenant, owner, session_agent, session);

CREATE INDEX runs_by_status on runs (status, updated_at);

CREATE INDEX runs_due on runs (agent, version, run_at) where reported = 0;

CREATE INDEX runs_running on runs (agent, queue, tenant) where status = 'running';

CREATE INDEX runs_scheduled on runs (agent, run_at) where status = 'queued' and rank is null;

CREATE INDEX runs_stopped on runs (agent) where status = 'queued' and stop is not null;

CREATE INDEX runs_unreported on runs (agent, updated_at) where reported = 0 and status not in ('queued', 'running');

CREATE INDEX runs_waiting on runs (agent, version, queue, tenant, rank) where status = 'queued' and rank is not null;

CREATE INDEX schedules_due on schedules (agent, due_at) where due_at is not null;

CREATE INDEX sessions_by_owner on sessions (tenant, owner, updated_at desc, agent, id);

CREATE INDEX sessions_by_time on sessions (tenant, updated_at desc, owner, agent, id);

CREATE UNIQUE INDEX turns_by_id on turns (tenant, owner, agent, session, turn_id);

CREATE INDEX turns_by_key on turns (tenant, owner, agent, session, idempotency_key) where idempotency_key is not null;

CREATE INDEX turns_by_time on turns (tenant, ended_at) where ended_at is not null;

CREATE INDEX turns_rewinding on turns (tenant, owner, agent, session, seq) where rewinds = 1;
