-- The schema of src/schema. Written by: vitest run --project e2e current-schema -u

create table accounts (
  name text not null,
  spent numeric not null default 0,
  reserved numeric not null default 0,
  ends_at double precision,
  constraint accounts_pkey PRIMARY KEY (name)
);

create table audit (
  tenant text not null,
  seq bigint not null,
  at double precision not null,
  body bytea not null,
  digest bytea not null,
  key text,
  constraint audit_pkey PRIMARY KEY (tenant, seq)
);

create table blob_holders (
  tenant text not null,
  owner text not null,
  agent text not null,
  session text not null,
  kind text not null,
  holder text not null,
  digest text not null,
  at double precision not null
);

create table blobs (
  tenant text not null,
  owner text not null,
  digest text not null,
  piece integer not null,
  body bytea not null,
  constraint blobs_pkey PRIMARY KEY (tenant, owner, digest, piece)
);

create table digest_key (
  one boolean not null default true,
  key bytea not null,
  constraint digest_key_one_check CHECK (one),
  constraint digest_key_pkey PRIMARY KEY (one)
);

create table erasures (
  subject text not null,
  token bigint not null,
  at double precision not null,
  expires_at double precision not null,
  constraint erasures_pkey PRIMARY KEY (subject)
);

create table event_runs (
  run bigint not null generated always as identity,
  tenant text not null,
  owner text not null,
  agent text not null,
  session text not null,
  turn_id text not null,
  epoch double precision not null,
  seq integer not null default 0,
  last_signal integer not null default 0,
  listener integer not null default 0,
  touched_at double precision not null,
  ended_at double precision,
  request text,
  token bigint not null default 0,
  constraint event_runs_pkey PRIMARY KEY (run),
  constraint event_runs_tenant_owner_agent_session_turn_id_key UNIQUE (tenant, owner, agent, session, turn_id)
);

create table event_signals (
  run bigint not null,
  n integer not null,
  id text,
  acknowledged boolean not null default false,
  body bytea,
  constraint event_signals_pkey PRIMARY KEY (run, n),
  constraint event_signals_run_fkey FOREIGN KEY (run) REFERENCES event_runs(run) ON DELETE CASCADE
);

create table events (
  run bigint not null,
  first integer not null,
  count integer not null,
  id text not null,
  body bytea not null,
  constraint events_pkey PRIMARY KEY (run, first),
  constraint events_run_fkey FOREIGN KEY (run) REFERENCES event_runs(run) ON DELETE CASCADE
);

create table feedback (
  n bigint not null generated always as identity,
  tenant text not null,
  owner text not null,
  agent text not null,
  session text not null,
  turn_id text not null,
  author text not null,
  score double precision not null,
  at double precision not null,
  token bigint not null,
  body bytea,
  constraint feedback_pkey PRIMARY KEY (n),
  constraint feedback_tenant_owner_agent_session_turn_id_author_key UNIQUE (tenant, owner, agent, session, turn_id, author)
);

create table holds (
  account text not null,
  id text not null,
  amount numeric not null,
  settled boolean not null default false,
  at double precision not null,
  run text,
  expires_at double precision,
  freed boolean not null default false,
  names text,
  tenant text,
  owner text,
  token bigint not null default 0,
  constraint holds_pkey PRIMARY KEY (account, id)
);

create table key_values (
  key text not null,
  value bytea not null,
  expires_at double precision,
  tenant text,
  owner text,
  token bigint not null default 0,
  constraint key_values_pkey PRIMARY KEY (key)
);

create table outbox (
  seq bigint not null generated always as identity,
  id text not null,
  tenant text not null,
  owner text not null,
  token bigint not null,
  turn_id text not null,
  added_at double precision not null,
  body bytea not null,
  since double precision not null default outbox_now(),
  constraint outbox_id_key UNIQUE (id),
  constraint outbox_pkey PRIMARY KEY (seq)
);

create table outbox_clock (
  one boolean not null default true,
  elapsed double precision not null,
  seen_at double precision not null,
  constraint outbox_clock_one_check CHECK (one),
  constraint outbox_clock_pkey PRIMARY KEY (one)
);

create table outbox_cursors (
  consumer text not null,
  seen bigint not null default 0,
  next bigint not null default 0,
  next_xid xid8,
  constraint outbox_cursors_pkey PRIMARY KEY (consumer)
);

create table outbox_deliveries (
  consumer text not null,
  seq bigint not null,
  held_until double precision not null,
  done boolean not null,
  constraint outbox_deliveries_pkey PRIMARY KEY (seq, consumer),
  constraint outbox_deliveries_seq_fkey FOREIGN KEY (seq) REFERENCES outbox(seq) ON DELETE CASCADE
);

create table passage_vectors (
  n bigint not null,
  model text not null,
  vector bytea not null,
  constraint passage_vectors_n_fkey FOREIGN KEY (n) REFERENCES passages(n) ON DELETE CASCADE,
  constraint passage_vectors_pkey PRIMARY KEY (n)
);

create table passages (
  n bigint not null generated always as identity,
  tenant text not null,
  owner text not null,
  agent text not null,
  session text not null,
  position integer not null,
  idx integer not null,
  seq integer not null,
  role text not null,
  author text not null,
  at double precision not null,
  words integer not null,
  flow smallint not null,
  terms bigint[] not null,
  counts smallint[] not null,
  constraint passages_pkey PRIMARY KEY (n),
  constraint passages_tenant_owner_agent_session_fkey FOREIGN KEY (tenant, owner, agent, session) REFERENCES sessions(tenant, owner, agent, id) ON UPDATE CASCADE ON DELETE CASCADE
);

create table pending_calls (
  n bigint not null generated always as identity,
  tenant text not null,
  owner text not null,
  agent text not null,
  session text not null,
  call_id text not null,
  turn_id text not null,
  name text not null,
  expires_at double precision,
  token text not null,
  constraint pending_calls_pkey PRIMARY KEY (n),
  constraint pending_calls_tenant_owner_agent_session_fkey FOREIGN KEY (tenant, owner, agent, session) REFERENCES sessions(tenant, owner, agent, id) ON UPDATE CASCADE ON DELETE CASCADE
);

create table queue_starts (
  queue bigint not null,
  tenant text not null,
  at double precision not null,
  expires_at double precision not null
);

create table queue_turns (
  queue bigint not null,
  tenant text not null,
  at double precision not null,
  constraint queue_turns_pkey PRIMARY KEY (queue, tenant)
);

create table recordings (
  n bigint not null generated always as identity,
  tenant text not null,
  owner text not null,
  agent text not null,
  session text not null,
  turn_id text not null,
  started_at double precision not null,
  expires_at double precision not null,
  bytes integer not null,
  token bigint not null,
  body bytea not null,
  constraint recordings_pkey PRIMARY KEY (n),
  constraint recordings_tenant_owner_agent_session_turn_id_key UNIQUE (tenant, owner, agent, session, turn_id)
);

create table rollout_turns (
  n bigint not null generated always as identity,
  rollout text not null,
  round bigint not null,
  user_digest text not null,
  turn text not null,
  tenant_digest text not null,
  owner_digest text not null,
  token bigint not null,
  changed boolean not null,
  size integer not null,
  closes_at double precision,
  settled boolean not null default false,
  score double precision,
  constraint rollout_turns_pkey PRIMARY KEY (n),
  constraint rollout_turns_rollout_user_digest_round_turn_key UNIQUE (rollout, user_digest, round, turn)
);

create table rollouts (
  name text not null,
  round bigint not null default 1,
  started_at double precision not null default now_ms(),
  max_drop double precision,
  alpha double precision,
  stopped_at double precision,
  stopped_by text,
  stop_id text,
  good_at double precision,
  good_id text,
  counts bigint[] not null default array_fill((0)::bigint, ARRAY[28]),
  constraint rollouts_pkey PRIMARY KEY (name)
);

create table run_log (
  run bigint not null,
  n bigint not null generated always as identity,
  at double precision not null,
  kind text not null,
  detail text,
  attempt integer,
  code text,
  constraint run_log_pkey PRIMARY KEY (run, n)
);

create table run_shapes (
  n bigint not null generated always as identity,
  digest text not null,
  body text not null,
  constraint run_shapes_digest_key UNIQUE (digest),
  constraint run_shapes_pkey PRIMARY KEY (n)
);

create table runs (
  n bigint not null generated always as identity,
  tenant text not null,
  owner text not null,
  session_agent text not null,
  session text not null,
  run text not null,
  agent text not null,
  version text not null,
  status text not null,
  run_at double precision not null,
  attempts integer not null default 0,
  token bigint not null default 0,
  worker text,
  idempotency_key text,
  fingerprint text not null,
  stop text,
  code text,
  reason text,
  session_version integer,
  reported boolean not null default false,
  updated_at double precision not null,
  task bytea,
  shape text,
  sealed_as text not null,
  queue text not null default 'default'::text,
  priority integer not null default 0,
  rank double precision,
  constraint runs_pkey PRIMARY KEY (n),
  constraint runs_tenant_run_key UNIQUE (tenant, run)
);

create table schedules (
  tenant text not null,
  owner text not null,
  id text not null,
  agent text not null,
  cron text not null,
  tz text not null,
  missed text not null,
  session text,
  request bytea not null,
  next_at double precision,
  due_at double precision,
  paused text,
  last_at double precision,
  last_run text,
  revision integer not null default 1,
  token bigint not null,
  constraint schedules_pkey PRIMARY KEY (tenant, owner, id)
);

create table schema_version (
  version integer not null
);

create table scopes (
  tenant text not null,
  owner text not null,
  key bytea,
  off double precision,
  constraint scopes_pkey PRIMARY KEY (tenant, owner)
);

create table sessions (
  tenant text not null,
  owner text not null,
  agent text not null,
  id text not null,
  version integer not null default 0,
  length integer not null default 0,
  status text,
  updated_at double precision not null default 0,
  open_turn text,
  token bigint not null default nextval('tokens'::regclass),
  held_until double precision not null default 0,
  run text,
  constraint sessions_pkey PRIMARY KEY (tenant, owner, agent, id)
);

create table steps (
  tenant text not null,
  run text not null,
  id text not null,
  token bigint not null,
  body bytea not null,
  sealed_as text not null,
  constraint steps_pkey PRIMARY KEY (tenant, run, id),
  constraint steps_tenant_run_fkey FOREIGN KEY (tenant, run) REFERENCES runs(tenant, run) ON DELETE CASCADE
);

create table turn_parts (
  tenant text not null,
  owner text not null,
  agent text not null,
  session text not null,
  n integer not null,
  count integer not null,
  body bytea not null,
  seq integer not null default '-1'::integer,
  constraint turn_parts_pkey PRIMARY KEY (tenant, owner, agent, session, n),
  constraint turn_parts_tenant_owner_agent_session_seq_fkey FOREIGN KEY (tenant, owner, agent, session, seq) REFERENCES turns(tenant, owner, agent, session, seq) ON UPDATE CASCADE ON DELETE CASCADE
);

create table turns (
  tenant text not null,
  owner text not null,
  agent text not null,
  session text not null,
  seq integer not null,
  turn_id text not null,
  idempotency_key text,
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
  sealed_as text not null,
  rewinds boolean not null,
  constraint turns_pkey PRIMARY KEY (tenant, owner, agent, session, seq),
  constraint turns_tenant_owner_agent_session_fkey FOREIGN KEY (tenant, owner, agent, session) REFERENCES sessions(tenant, owner, agent, id) ON UPDATE CASCADE ON DELETE CASCADE
);

create table unheld_blobs (
  n bigint not null generated always as identity,
  tenant text not null,
  owner text not null,
  digest text not null,
  constraint unheld_blobs_pkey PRIMARY KEY (n)
);

create table usage_totals (
  subject text not null,
  day text not null,
  runs bigint not null,
  estimated bigint not null,
  inputtokens double precision not null,
  outputtokens double precision not null,
  cachedinputtokens double precision not null,
  cachewritetokens double precision not null,
  reasoningtokens double precision not null,
  calls double precision not null,
  constraint usage_totals_pkey PRIMARY KEY (subject, day)
);

create table vault (
  tenant text not null,
  owner text not null,
  agent text not null,
  session text not null,
  layer text not null,
  body bytea not null,
  sealed_as text not null,
  token bigint not null default 0,
  constraint vault_pkey PRIMARY KEY (tenant, owner, agent, session, layer)
);

CREATE INDEX accounts_by_end ON accounts USING btree (ends_at) WHERE (ends_at IS NOT NULL);

CREATE UNIQUE INDEX audit_by_key ON audit USING btree (tenant, key) WHERE (key IS NOT NULL);

CREATE INDEX blob_holders_by_digest ON blob_holders USING btree (digest);

CREATE INDEX blob_holders_by_session ON blob_holders USING btree (tenant, owner, agent, session);

CREATE INDEX blob_records ON blob_holders USING btree (holder) WHERE (kind = 'record'::text);

CREATE INDEX blob_writes ON blob_holders USING btree (at) WHERE (kind = 'write'::text);

CREATE INDEX event_runs_by_end ON event_runs USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX event_signals_by_id ON event_signals USING btree (run, id);

CREATE INDEX feedback_by_agent ON feedback USING btree (agent, at, n);

CREATE INDEX feedback_by_author ON feedback USING btree (author, tenant);

CREATE INDEX feedback_by_tenant ON feedback USING btree (agent, tenant, at, n);

CREATE INDEX holds_by_expiry ON holds USING btree (account, expires_at) WHERE ((NOT settled) AND (NOT freed) AND (expires_at IS NOT NULL));

CREATE INDEX holds_by_owner ON holds USING btree (tenant, owner) WHERE (tenant IS NOT NULL);

CREATE INDEX holds_by_run ON holds USING btree (hashtextextended(run, (0)::bigint)) WHERE ((run IS NOT NULL) AND (NOT settled));

CREATE INDEX holds_by_time ON holds USING btree (at);

CREATE INDEX key_values_by_expiry ON key_values USING btree (expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX key_values_by_owner ON key_values USING btree (tenant, owner) WHERE (tenant IS NOT NULL);

CREATE INDEX outbox_by_age ON outbox USING btree (since);

CREATE INDEX outbox_by_owner ON outbox USING btree (hashtextextended(tenant, (0)::bigint), owner);

CREATE INDEX outbox_deliveries_open ON outbox_deliveries USING btree (consumer, seq) WHERE (NOT done);

CREATE INDEX passages_by_place ON passages USING btree (tenant, owner, agent, session, "position");

CREATE INDEX passages_by_term ON passages USING gin (terms);

CREATE INDEX pending_calls_by_session ON pending_calls USING btree (tenant, owner, session);

CREATE INDEX pending_calls_by_tenant ON pending_calls USING btree (hashtextextended(tenant, (0)::bigint), n);

CREATE INDEX pending_calls_by_token ON pending_calls USING btree (token, tenant);

CREATE INDEX queue_starts_by_expiry ON queue_starts USING btree (expires_at);

CREATE INDEX queue_starts_by_tenant ON queue_starts USING btree (queue, tenant, at);

CREATE INDEX queue_starts_by_time ON queue_starts USING btree (queue, at);

CREATE INDEX queue_turns_by_age ON queue_turns USING btree (at);

CREATE INDEX queue_turns_by_time ON queue_turns USING btree (queue, at);

CREATE INDEX recordings_by_agent ON recordings USING btree (agent, started_at, n);

CREATE INDEX recordings_by_expiry ON recordings USING btree (expires_at);

CREATE INDEX recordings_by_tenant ON recordings USING btree (agent, tenant, started_at, n);

CREATE INDEX rollout_turns_by_end ON rollout_turns USING btree (rollout, closes_at);

CREATE INDEX rollout_turns_by_owner ON rollout_turns USING btree (tenant_digest, owner_digest);

CREATE INDEX rollout_turns_by_turn ON rollout_turns USING btree (rollout, turn);

CREATE INDEX runs_by_id ON runs USING btree ("left"(run, 64));

CREATE INDEX runs_by_key ON runs USING btree (tenant, owner, session, hashtextextended(idempotency_key, (0)::bigint)) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX runs_by_session ON runs USING btree (session, owner, tenant);

CREATE INDEX runs_by_status ON runs USING btree (status, updated_at);

CREATE INDEX runs_by_tenant ON runs USING btree (hashtextextended(tenant, (0)::bigint), n);

CREATE INDEX runs_due ON runs USING btree (agent, hashtextextended(version, (0)::bigint), run_at) WHERE (NOT reported);

CREATE INDEX runs_running ON runs USING btree (agent, hashtextextended(queue, (0)::bigint), hashtextextended(tenant, (0)::bigint)) WHERE (status = 'running'::text);

CREATE INDEX runs_scheduled ON runs USING btree (agent, run_at) WHERE ((status = 'queued'::text) AND (rank IS NULL));

CREATE INDEX runs_stopped ON runs USING btree (agent) WHERE ((status = 'queued'::text) AND (stop IS NOT NULL));

CREATE INDEX runs_unreported ON runs USING btree (agent, updated_at) WHERE ((NOT reported) AND (status <> ALL (ARRAY['queued'::text, 'running'::text])));

CREATE INDEX runs_waiting ON runs USING btree (hashtextextended(queue, hashtextextended(version, hashtextextended(agent, (0)::bigint))), tenant, rank, n) WHERE ((status = 'queued'::text) AND (rank IS NOT NULL));

CREATE INDEX schedules_due ON schedules USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX sessions_by_owner ON sessions USING btree (hashtextextended(owner, (0)::bigint), tenant, updated_at DESC);

CREATE INDEX sessions_by_time ON sessions USING btree (hashtextextended(tenant, (0)::bigint), updated_at DESC);

CREATE INDEX turns_by_id ON turns USING btree (hashtextextended(turn_id, (0)::bigint), session, owner, tenant);

CREATE INDEX turns_by_key ON turns USING btree (tenant, owner, session, hashtextextended(idempotency_key, (0)::bigint)) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX turns_by_time ON turns USING btree (hashtextextended(tenant, (0)::bigint), ended_at);

CREATE INDEX turns_rewinding ON turns USING btree (tenant, owner, agent, session, seq) WHERE rewinds;

CREATE OR REPLACE FUNCTION acknowledge_at_end(_tenant text, _owner text, _session_agent text, _session text, _turn_id text, _epoch double precision, _ns integer[])
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  _run bigint;
begin
  select run into _run from event_runs
    where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and turn_id = _turn_id and epoch <= _epoch for update;
  if not found then return false; end if;
  update event_signals set acknowledged = true, body = null where run = _run and n = any (_ns);
  return true;
end $function$;

CREATE OR REPLACE FUNCTION acknowledge_signal(_tenant text, _owner text, _session_agent text, _session text, _turn_id text, _listener integer, _n integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  _run bigint;
begin
  select run into _run from event_runs
    where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and turn_id = _turn_id and listener = _listener
    for update;
  if not found then return; end if;
  delete from event_signals where run = _run and n = _n and id is null;
  update event_signals set acknowledged = true, body = null where run = _run and n = _n;
end $function$;

CREATE OR REPLACE FUNCTION add_blob_piece(_tenant text, _owner text, _session_agent text, _session text, _write text, _digest text, _piece integer, _body bytea)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('blobs ' || to_json(array[_tenant, _owner])::text, 0));
  if not exists (select from blob_holders where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and kind = 'write' and holder = _write and digest = _digest) then return false; end if;
  insert into blobs values (_tenant, _owner, _digest, _piece, _body) on conflict do nothing;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION add_run(_tenant text, _owner text, _session_agent text, _session text, _run text, _agent text, _version text, _run_at double precision, _key text, _fingerprints text[], _decides text[], _task bytea, _ms double precision, _unless_busy double precision, _queue text, _priority integer, _limits jsonb, _names text[], _worker text, _shape text, _shape_body text, _step text, _step_body bytea, OUT outcome_ text, OUT n_ bigint, OUT absent_ text[], OUT token_ bigint, OUT version_ integer, OUT open_ boolean, OUT held_until_ double precision)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  held sessions%rowtype;
  known runs%rowtype;
  _now double precision;
  _rank double precision;
begin
  -- An erasure waits for the run that is being added, and then finds it.
  perform writer_token(_tenant, _owner, null, null, null, null);
  perform forget_erased(_tenant, _owner, _session_agent, _session);
  loop
    select * into held from sessions where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session for update;
    exit when found;
    insert into sessions (tenant, owner, agent, id) values (_tenant, _owner, _session_agent, _session) on conflict do nothing;
  end loop;
  _now := now_ms();
  select * into known from runs where tenant = _tenant and run = _run;
  if found then
    -- The statement was sent again after its reply was lost, so it gets the same reply.
    outcome_ := 'added';
    n_ := known.n;
    if held.run = _run and held.token = known.token and held.held_until > _now then
      token_ := held.token;
      version_ := held.version;
      open_ := held.open_turn is not null;
    end if;
    return;
  end if;
  select * into known from runs
    where tenant = _tenant and owner = _owner and session_agent = _session_agent and session = _session and hashtextextended(idempotency_key, 0) = hashtextextended(_key, 0) and idempotency_key = _key;
  if found then
    outcome_ := case when known.fingerprint = any (_fingerprints) then 'known' else 'reused' end;
    n_ := known.n;
    return;
  end if;
  if _unless_busy is not null and (held.held_until > _now or held.run is not null) then
    outcome_ := 'busy';
    held_until_ := greatest(held.held_until, _now + case when held.run is null then 0 else _unless_busy end);
    return;
  end if;
  select array_agg(c) into absent_ from unnest(_decides) c
    where not exists (select from pending_calls where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and call_id = c);
  if absent_ is not null then
    outcome_ := 'absent';
    return;
  end if;
  delete from pending_calls where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and call_id = any (_decides);
  _rank := case when _run_at > _now then null else coalesce(_run_at, _now) + _priority * 60000 end;
  if _rank is not null and _ms is not null then
    -- Without limits, processes add runs at the same time.
    if _limits <> '{}' then perform lock_queues(_names, array[_queue]); end if;
    if queue_room(_names, _queue, _limits, null) > 0 and queue_room(_names, _queue, _limits, _tenant) > 0
      and not has_startable(_agent, _version, _queue) then
      select t.token_, t.version_, t.open_ into token_, version_, open_
        from take_session(_tenant, _owner, _session_agent, _session, _ms, _run) t;
    end if;
  end if;
  insert into runs (tenant, owner, session_agent, session, run, agent, version, run_at, idempotency_key, fingerprint, updated_at,
    task, shape, sealed_as, queue, priority, rank, status, attempts, token, worker)
    values (_tenant, _owner, _session_agent, _session, _run, _agent, _version, coalesce(_run_at, _now), _key, _fingerprints[1], _now,
      _task, _shape, _session_agent, _queue, _priority, _rank, case when token_ is null then 'queued' else 'running' end,
      case when token_ is null then 0 else 1 end, coalesce(token_, 0), case when token_ is not null then _worker end)
    returning n into n_;
  outcome_ := 'added';
  if _shape_body is not null and not exists (select from run_shapes where digest = _shape) then
    insert into run_shapes (digest, body) values (_shape, _shape_body) on conflict do nothing;
    delete from run_shapes where n <= (select max(n) from run_shapes) - 1000;
  end if;
  if token_ is null then return; end if;
  if _step is not null then insert into steps values (_tenant, _run, _step, token_, _step_body, _session_agent); end if;
  if _limits <> '{}' then perform count_start(_agent, _queue, _tenant, _limits); end if;
end $function$;

CREATE OR REPLACE FUNCTION add_signal(_tenant text, _owner text, _session_agent text, _session text, _turn_id text, _ttl double precision, _id text, _body bytea)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  held event_runs%rowtype;
begin
  select * into held from event_runs r
    where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and turn_id = _turn_id and ended_at is null and (r.ended_at is null and r.touched_at > now_ms() - 2592000000 or r.ended_at > now_ms() - _ttl) for update;
  if not found then return false; end if;
  if exists (select from event_signals where run = held.run and id is not distinct from _id) then return true; end if;
  insert into event_signals (run, n, id, body) values (held.run, held.last_signal + 1, _id, _body);
  update event_runs set last_signal = held.last_signal + 1 where run = held.run;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION adopt_session(_tenant text, _owner text, _session_agent text, _session text, _names text[], _token bigint, OUT outcome_ text, OUT held_until_ double precision)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  there sessions%rowtype;
  _from text;
begin
  outcome_ := 'none';
  select * into there from sessions
    where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session for update;
  if found and (there.version > 0 or there.open_turn is not null or there.held_until > now_ms()) then return; end if;
  foreach _from in array _names loop
    select * into there from sessions
      where tenant = _tenant and owner = _owner and agent = _from and id = _session for update;
    continue when not found;
    continue when there.version = 0 and there.open_turn is null and there.token is distinct from _token;
    if there.held_until > now_ms() and there.token is distinct from _token then
      outcome_ := 'held';
      held_until_ := there.held_until;
      return;
    end if;
    perform move_session(_tenant, _owner, _from, _session_agent, _session);
    outcome_ := 'moved';
    return;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION advance_schedule(_tenant text, _owner text, _id text, _revision integer, _next_at double precision, _paused text, _last_at double precision, _last_run text, _adds_run boolean)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  perform from current_schedule(_tenant, _owner, _id) where revision = _revision;
  if found then
    update schedules set next_at = _next_at, due_at = greatest(_next_at, case when _next_at is not null then now_ms() end),
      paused = _paused, last_at = _last_at, last_run = _last_run, revision = revision + 1
      where tenant = _tenant and owner = _owner and id = _id;
  elsif _adds_run then
    raise exception 'The schedule has changed.' using errcode = 'AL002';
  end if;
  return found;
end $function$;

CREATE OR REPLACE FUNCTION append_to_run(_tenant text, _owner text, _session_agent text, _session text, _turn_id text, _epoch double precision, _request text, _id text, _count integer, _body bytea, _end boolean, _ttl double precision, _lease bigint, _began double precision, OUT outcome_ text, OUT seq_ integer, OUT ns_ integer[], OUT ids_ text[], OUT bodies_ bytea[])
 RETURNS record
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
declare
  r event_runs%rowtype;
  _token bigint;
begin
  loop
    select * into r from event_runs where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and turn_id = _turn_id for update;
    exit when found and (r.ended_at is null and r.touched_at > now_ms() - 2592000000 or r.ended_at > now_ms() - _ttl);
    if found then delete from event_runs where run = r.run; end if;
    -- Only a writer that is not fenced opens a run.
    _token := writer_token(_tenant, _owner, _session_agent, _session, _lease, _began);
    if _token is null then
      outcome_ := 'gone';
      return;
    end if;
    insert into event_runs (tenant, owner, agent, session, turn_id, epoch, touched_at, token)
      values (_tenant, _owner, _session_agent, _session, _turn_id, _epoch, now_ms(), _token) on conflict do nothing;
  end loop;
  seq_ := r.seq;
  outcome_ := case
    when r.request = _request then 'appended'
    when _epoch < r.epoch then 'taken'
    when _epoch = r.epoch and r.ended_at is not null then 'ended'
  end;
  if outcome_ is not null then return; end if;
  if _end then
    delete from event_signals where run = r.run and id is null;
    select array_agg(n order by n), array_agg(id order by n), array_agg(body order by n) into ns_, ids_, bodies_
      from event_signals where run = r.run and not acknowledged;
    if ns_ is not null then
      update event_runs set epoch = _epoch, ended_at = null, touched_at = now_ms() where run = r.run;
      outcome_ := 'undelivered';
      return;
    end if;
  end if;
  if _count > 0 then
    insert into events values (r.run, r.seq + 1, _count, _id, _body);
    seq_ := r.seq + _count;
  end if;
  update event_runs set epoch = _epoch, seq = seq_, touched_at = now_ms(), request = _request,
    ended_at = case when _end then now_ms() end where run = r.run;
  outcome_ := 'appended';
  if _end then
    delete from event_runs where run = any (array(
      select run from event_runs where ended_at <= (select now_ms()) - _ttl
      order by ended_at limit 100 for update skip locked
    ));
  end if;
end $function$;

CREATE OR REPLACE FUNCTION begin_erasure(_tenant text, _owner text, _agent text, _session text, OUT token_ bigint, OUT run_ bigint)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_advisory_xact_lock(hashtextextended('erasure ' || _tenant, 0));
  delete from erasures where expires_at <= now_ms();
  token_ := nextval('tokens');
  insert into erasures values (
    digest(to_json(array_remove(array[_tenant, _owner, _agent, _session], null))::text),
    token_, now_ms(), now_ms() + 604800000
  ) on conflict (subject) do update set token = excluded.token, at = excluded.at, expires_at = excluded.expires_at;
  select coalesce(max(n), 0) into run_ from runs;
  -- A run that begins now must not use a key that is deleted after it. A session has none of its own.
  if _agent is null then delete from scopes where tenant = _tenant and (_owner is null or owner = _owner); end if;
  delete from blob_holders where kind = 'write' and tenant = _tenant and (_owner is null or owner = _owner)
    and (_agent is null or agent = _agent) and (_session is null or session = _session);
end $function$;

CREATE OR REPLACE FUNCTION begin_rollout_turn(_tenant text, _owner text, _agent text, _session text, _turn text, _lease bigint, _began double precision, _rollout text, _user text, _changed boolean, _size integer, _ms double precision, _max_drop double precision, _alpha double precision)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  r rollouts%rowtype;
  _token bigint := writer_token(_tenant, _owner, _agent, _session, _lease, _began);
  _digest text := digest(to_json(array['rollout user', _rollout, _user])::text);
begin
  if _token is null then return false; end if;
  select * into r from rollouts where name = _rollout;
  if r.max_drop is null then
    insert into rollouts as t (name, max_drop, alpha) values (_rollout, _max_drop, _alpha)
      on conflict (name) do update set max_drop = excluded.max_drop, alpha = excluded.alpha where t.max_drop is null;
    select * into r from rollouts where name = _rollout;
  end if;
  if r.stopped_at is not null then return true; end if;
  perform pg_advisory_xact_lock(rollout_lock(_rollout, _digest));
  insert into rollout_turns (rollout, round, user_digest, turn, tenant_digest, owner_digest, token, changed, size, closes_at)
    select _rollout, r.round, _digest, rollout_turn(_rollout, _tenant, _owner, _session, _turn),
      digest(to_json(array[_tenant])::text), digest(to_json(array[_tenant, _owner])::text), _token, _changed, _size, now_ms() + _ms
    from (
      select count(*) as turns, count(*) filter (where turn = '') as counted
      from rollout_turns where rollout = _rollout and user_digest = _digest and round = r.round
    ) w where counted = 0 and turns < _size
    on conflict do nothing;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION blob_unheld()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into unheld_blobs (tenant, owner, digest) values (old.tenant, old.owner, old.digest);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION claim_lost(_agents text[], _versions text[], _limit integer, _ms double precision, _alone boolean, _worker text)
 RETURNS TABLE(n_ bigint, token_ bigint, version_ integer, open_ boolean, attempts_ integer)
 LANGUAGE plpgsql
AS $function$
declare
  due record;
  _now double precision := now_ms();
  _taken integer := 0;
begin
  for due in
    select r.n, r.status, r.attempts, p.progressed
    from runs r join sessions s on s.tenant = r.tenant and s.owner = r.owner and s.agent = r.session_agent and s.id = r.session,
    lateral (
      select exists (select from steps p where p.tenant = r.tenant and p.run = r.run and p.token = r.token
        and p.id not like '%:takeover/%') as progressed
    ) p
    where r.n in (
      select n from runs where agent = any (_agents) and status = 'running'
      union all
      select n from runs where agent = any (_agents) and status = 'queued' and stop is not null
      union all
      select n from runs
        where agent = any (_agents) and not reported and status not in ('queued', 'running') and updated_at <= _now - _ms
    )
    and (r.agent, r.version) in (select * from unnest(_agents, _versions))
    and (s.run is null or s.run = r.run) and s.held_until <= _now
    and (_alone or r.status <> 'running' or r.attempts + 1 < 3 or p.progressed)
    order by r.n limit _limit for update of r, s skip locked
  loop
    attempts_ := case
      when due.status = 'queued' then 1 when due.status <> 'running' then null when due.progressed then 1 else due.attempts + 1
    end;
    continue when attempts_ >= 3 and _taken > 0;
    select t.n_, t.token_, t.version_, t.open_ into n_, token_, version_, open_ from take_run(due.n, _ms, attempts_, _worker) t;
    continue when n_ is null;
    _taken := _taken + 1;
    return next;
    exit when attempts_ >= 3;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION claim_orphans(_agents text[], _versions text[], _limit integer, _lapsed double precision, _ms double precision)
 RETURNS TABLE(n_ bigint, token_ bigint, version_ integer, open_ boolean)
 LANGUAGE plpgsql
AS $function$
declare
  due record;
  _name text;
  _hash bigint;
  _before double precision := now_ms() - _lapsed;
begin
  for _name in select distinct a from unnest(_agents) a loop
    _hash := null;
    loop
      -- Versions are looked up in the index, so that the number of their runs does not matter.
      if _hash is null then
        select hashtextextended(version, 0) into _hash from runs where agent = _name and not reported
          order by hashtextextended(version, 0) limit 1;
      else
        select hashtextextended(version, 0) into _hash from runs
          where agent = _name and not reported and hashtextextended(version, 0) > _hash order by hashtextextended(version, 0) limit 1;
      end if;
      exit when not found;
      continue when (_name, _hash) in (select a, hashtextextended(v, 0) from unnest(_agents, _versions) o (a, v));
      for due in
        select r.n from runs r join sessions s on s.tenant = r.tenant and s.owner = r.owner and s.agent = r.session_agent and s.id = r.session
        where r.agent = _name and hashtextextended(r.version, 0) = _hash
        and not r.reported and r.status in ('queued', 'running') and r.updated_at <= _before and r.run_at <= _before
        and (s.run is null or s.run = r.run) and s.held_until <= _before
        order by r.n limit _limit for update of r, s skip locked
      loop
        select * into n_, token_, version_, open_ from take_run(due.n, _ms, null, null);
        if n_ is not null then return next; end if;
      end loop;
    end loop;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION claim_runs(_agents text[], _versions text[], _limit integer, _ms double precision, _alone boolean, _queues jsonb, _waiting_only boolean, _worker text)
 RETURNS TABLE(n_ bigint, token_ bigint, version_ integer, open_ boolean)
 LANGUAGE plpgsql
AS $function$
declare
  _lost record;
begin
  if not _waiting_only then
    for _lost in select * from claim_lost(_agents, _versions, _limit, _ms, _alone, _worker) loop
      n_ := _lost.n_;
      token_ := _lost.token_;
      version_ := _lost.version_;
      open_ := _lost.open_;
      return next;
      if _lost.attempts_ >= 3 then return; end if;
      _limit := _limit - 1;
    end loop;
  end if;
  return query select * from claim_waiting(_agents, _versions, _queues, _limit, _ms, _worker);
end $function$;

CREATE OR REPLACE FUNCTION claim_schedules(_agents text[], _limit integer, _ms double precision)
 RETURNS TABLE(row_ schedules, now_ double precision)
 LANGUAGE plpgsql
AS $function$
declare
  _now double precision := now_ms();
begin
  return query with due as materialized (
    select s.tenant, s.owner, s.id from schedules s
    where s.due_at <= _now and s.agent = any (_agents) and not exists (
      select from runs r where r.tenant = s.tenant and r.run = s.last_run and r.status in ('queued', 'running')
    ) order by s.due_at limit _limit for update of s skip locked
  ) update schedules u set due_at = _now + _ms from due
    where u.tenant = due.tenant and u.owner = due.owner and u.id = due.id returning u, _now;
end $function$;

CREATE OR REPLACE FUNCTION claim_waiting(_agents text[], _versions text[], _queues jsonb, _limit integer, _ms double precision, _worker text)
 RETURNS TABLE(n_ bigint, token_ bigint, version_ integer, open_ boolean)
 LANGUAGE plpgsql
AS $function$
declare
  _names text[] := array(select distinct a from unnest(_agents) a order by a);
  _lane record;
  _now double precision;
  _n bigint;
  _rank double precision;
  _turn double precision;
  _agent text;
  _version text;
  _queue text;
  _tenant text;
  _last text;
  _found integer;
  _room jsonb := '{}';
  -- One candidate for each lane and tenant.
  _lanes integer[] := '{}';
  _tenants text[] := '{}';
  _ns bigint[] := '{}';
  _ranks double precision[] := '{}';
  _turns double precision[] := '{}';
  _i integer;
begin
  perform lock_queues(_names, array(select q ->> 'name' from jsonb_array_elements(_queues) q));
  update runs set rank = run_at + priority * 60000 where n in (
    select n from runs where agent = any (_names) and status = 'queued' and rank is null and run_at <= (select now_ms())
    order by run_at limit 1000 for update skip locked
  );
  for _lane in select * from queue_lanes(_agents, _versions, _queues) loop
    _agent := _lane.agent_;
    _version := _lane.version_;
    _queue := _lane.queue_;
    if not _room ? _queue then
      _room := _room || jsonb_build_object(_queue,
        least(queue_room(_names, _queue, _lane.limits_, null), (_lane.limits_ ->> 'places')::integer));
    end if;
    continue when (_room ->> _queue)::integer <= 0;
    select t.tenant into _last from queue_turns t where t.queue = queue_id(_agent, _queue) order by t.at desc limit 1;
    _found := 0;
    -- A bounded number of tenants, in a circle that begins after the last tenant that had its turn.
    for _tenant in
      select ring.tenant from (with recursive t as (
        (select r.tenant from runs r where hashtextextended(r.queue, hashtextextended(r.version, hashtextextended(r.agent, 0)))
      = hashtextextended(_queue, hashtextextended(_version, hashtextextended(_agent, 0)))
    and r.queue = _queue and r.version = _version and r.agent = _agent and r.status = 'queued' and r.rank is not null and r.tenant > _last order by r.tenant limit 1) union all select (select r.tenant from runs r where hashtextextended(r.queue, hashtextextended(r.version, hashtextextended(r.agent, 0)))
      = hashtextextended(_queue, hashtextextended(_version, hashtextextended(_agent, 0)))
    and r.queue = _queue and r.version = _version and r.agent = _agent and r.status = 'queued' and r.rank is not null and r.tenant > t.tenant and true order by r.tenant limit 1) from t where t.tenant is not null
      ) select t.tenant from t where t.tenant is not null) ring
      union all
      select ring.tenant from (with recursive t as (
        (select r.tenant from runs r where hashtextextended(r.queue, hashtextextended(r.version, hashtextextended(r.agent, 0)))
      = hashtextextended(_queue, hashtextextended(_version, hashtextextended(_agent, 0)))
    and r.queue = _queue and r.version = _version and r.agent = _agent and r.status = 'queued' and r.rank is not null and (_last is null or r.tenant <= _last) order by r.tenant limit 1) union all select (select r.tenant from runs r where hashtextextended(r.queue, hashtextextended(r.version, hashtextextended(r.agent, 0)))
      = hashtextextended(_queue, hashtextextended(_version, hashtextextended(_agent, 0)))
    and r.queue = _queue and r.version = _version and r.agent = _agent and r.status = 'queued' and r.rank is not null and r.tenant > t.tenant and (_last is null or r.tenant <= _last) order by r.tenant limit 1) from t where t.tenant is not null
      ) select t.tenant from t where t.tenant is not null) ring
    loop
      continue when queue_room(_names, _queue, _lane.limits_, _tenant) <= 0;
      select * into _n, _rank, _turn from next_waiting(_agent, _version, _queue, _tenant, '-infinity', 0);
      continue when _n is null;
      _lanes := _lanes || _lane.lane_;
      _tenants := _tenants || _tenant;
      _ns := _ns || _n;
      _ranks := _ranks || _rank;
      _turns := _turns || _turn;
      _found := _found + 1;
      exit when _found >= _limit + 50;
    end loop;
  end loop;

  while _limit > 0 loop
    select t.i into _i from unnest(_turns) with ordinality t (turn, i) where t.turn is not null order by t.turn, t.i limit 1;
    exit when _i is null;
    _tenant := _tenants[_i];
    select * into _lane from queue_lanes(_agents, _versions, _queues) where lane_ = _lanes[_i];
    _queue := _lane.queue_;
    _n := null;
    _rank := null;
    _turn := null;
    _now := now_ms();
    if (_room ->> _queue)::integer > 0 and queue_room(_names, _queue, _lane.limits_, _tenant) > 0 then
      perform from runs r join sessions s on s.tenant = r.tenant and s.owner = r.owner and s.agent = r.session_agent and s.id = r.session and (s.run is null or s.run = r.run) and s.held_until <= _now where r.n = _ns[_i] and r.status = 'queued' for update of r, s skip locked;
      if found then
        select t.n_, t.token_, t.version_, t.open_ into n_, token_, version_, open_ from take_run(_ns[_i], _ms, 1, _worker) t;
        if n_ is not null then
          return next;
          _limit := _limit - 1;
          _room := jsonb_set(_room, array[_queue], to_jsonb((_room ->> _queue)::integer - 1));
          perform count_start(_lane.agent_, _queue, _tenant, _lane.limits_);
        end if;
      end if;
      select * into _n, _rank, _turn
        from next_waiting(_lane.agent_, _lane.version_, _queue, _tenant, _ranks[_i], _ns[_i]);
    end if;
    _ns[_i] := _n;
    _ranks[_i] := _rank;
    _turns[_i] := _turn;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION close_rollout_window(_rollout text, _round bigint, _user text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  _first record;
  w record;
  _arm integer;
  _bin integer;
begin
  select n, changed into _first from rollout_turns
    where rollout = _rollout and user_digest = _user and round = _round and turn <> '' order by n limit 1;
  if not found then return; end if;
  select count(*) as turns, count(score) as scored, avg(score) as mean into w from rollout_turns
    where rollout = _rollout and user_digest = _user and round = _round and turn <> '';
  delete from rollout_turns where rollout = _rollout and user_digest = _user and n <> _first.n;
  update rollout_turns set turn = '', closes_at = null, score = null where n = _first.n;
  _arm := case when _first.changed then 1 else 15 end;
  _bin := case when w.scored = 0 then 11 else least(floor(w.mean * 10 + random()), 10) end;
  update rollouts set counts[_arm + _bin] = counts[_arm + _bin] + 1, counts[_arm + 12] = counts[_arm + 12] + w.turns,
    counts[_arm + 13] = counts[_arm + 13] + w.turns - w.scored
    where name = _rollout and round = _round and stopped_at is null;
end $function$;

CREATE OR REPLACE FUNCTION collect_blobs(_limit integer)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  _tenant text;
  _owner text;
  _digest text;
  _gone integer;
begin
  delete from blob_holders where kind = 'write' and at < now_ms() - 3600000;
  select tenant, owner into _tenant, _owner from unheld_blobs order by n limit 1;
  if not found then return false; end if;
  perform pg_advisory_xact_lock(hashtextextended('blobs ' || to_json(array[_tenant, _owner])::text, 0));
  delete from unheld_blobs u where tenant = _tenant and owner = _owner and exists (
    select from blob_holders h where h.tenant = _tenant and h.owner = _owner and h.digest = u.digest
  );
  select digest into _digest from unheld_blobs where tenant = _tenant and owner = _owner order by n limit 1;
  if found then
    delete from blobs where tenant = _tenant and owner = _owner and digest = _digest and piece in (
      select piece from blobs where tenant = _tenant and owner = _owner and digest = _digest order by piece desc limit _limit
    );
    get diagnostics _gone = row_count;
    if _gone < _limit then
      delete from unheld_blobs where tenant = _tenant and owner = _owner and digest = _digest;
    end if;
  end if;
  return exists (select from unheld_blobs);
end $function$;

CREATE OR REPLACE FUNCTION count_start(_agent text, _queue text, _tenant text, _limits jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  _now double precision := now_ms();
begin
  insert into queue_turns values (queue_id(_agent, _queue), _tenant, _now)
    on conflict (queue, tenant) do update set at = excluded.at;
  if _limits -> 'rateLimit' is null then return; end if;
  delete from queue_starts where queue = queue_id(_agent, _queue) and expires_at <= _now;
  insert into queue_starts
    values (queue_id(_agent, _queue), _tenant, _now, _now + (_limits -> 'rateLimit' ->> 'period')::double precision);
end $function$;

CREATE OR REPLACE FUNCTION current_schedule(_tenant text, _owner text, _id text)
 RETURNS SETOF schedules
 LANGUAGE plpgsql
AS $function$
declare
  e record;
begin
  perform writer_token(_tenant, _owner, null, null, null, null);
  select * into e from erased(_tenant, _owner, null, null);
  return query select * from schedules where tenant = _tenant and owner = _owner and id = _id and (e.token_ is null or token >= e.token_) for update;
end $function$;

CREATE OR REPLACE FUNCTION decide_rollout(_rollout text, _round bigint, _verdict text, _by text, _id text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  if _verdict = 'stop' then
    update rollouts set stopped_at = now_ms(), stopped_by = _by, stop_id = _id
      where name = _rollout and round = _round and stopped_at is null;
  else
    update rollouts set good_at = now_ms(), good_id = _id
      where name = _rollout and round = _round and stopped_at is null and good_at is null;
  end if;
  return exists (select from rollouts where name = _rollout and round = _round and _id in (stop_id, good_id));
end $function$;

CREATE OR REPLACE FUNCTION digest(_text text)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select encode(sha256(key || convert_to(_text, 'UTF8')), 'base64') from digest_key
$function$;

CREATE OR REPLACE FUNCTION end_run(_tenant text, _owner text, _session_agent text, _session text, _run text, _status text, _code text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  update sessions set run = null
    where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session and run = _run;
  if not found then return; end if;
  update runs set status = _status, code = coalesce(_code, case _status when 'failed' then 'run.failed' end), updated_at = now_ms(),
    task = case when _status in ('failed', 'suspended') then task end
    where tenant = _tenant and run = _run;
  delete from steps where tenant = _tenant and run = _run;
  delete from blob_holders where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and kind = 'step' and holder = _run;
end $function$;

CREATE OR REPLACE FUNCTION erase_some(_tenant text, _owner text, _token bigint, _run bigint, _limit integer, OUT stored_ integer, OUT found_ integer)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  _owners text[];
  _agents text[];
  _ids text[];
  _more integer;
begin
  select array_agg(o.owner), array_agg(o.agent), array_agg(o.id) into _owners, _agents, _ids from (
    select owner, agent, id from sessions s where tenant = _tenant and (_owner is null or owner = _owner)
    and (abs(token) < _token or run in (select r.run from runs r where r.tenant = _tenant and r.n <= _run))
    order by owner, agent, id limit _limit for update
  ) o;
  found_ := coalesce(cardinality(_ids), 0);
  stored_ := case when found_ = 0 then 0 else forget_sessions(_tenant, _owners, _agents, _ids) end;
  if found_ > 0 then return; end if;
  delete from runs where n in (
    select n from runs where tenant = _tenant and (_owner is null or owner = _owner) and n <= _run limit _limit
  );
  get diagnostics found_ = row_count;
  delete from schedules where ctid = any (array(
    select ctid from schedules where tenant = _tenant and (_owner is null or owner = _owner) and token < _token limit _limit
  ));
  get diagnostics _more = row_count;
  found_ := found_ + _more;
  delete from event_runs where ctid = any (array(
    select ctid from event_runs where tenant = _tenant and (_owner is null or owner = _owner) and token < _token limit _limit
  ));
  get diagnostics _more = row_count;
  found_ := found_ + _more;
  delete from vault where ctid = any (array(
    select ctid from vault where tenant = _tenant and (_owner is null or owner = _owner) and token < _token limit _limit
  ));
  get diagnostics _more = row_count;
  found_ := found_ + _more;
  delete from recordings where ctid = any (array(
    select ctid from recordings where tenant = _tenant and (_owner is null or owner = _owner) and token < _token limit _limit
  ));
  get diagnostics _more = row_count;
  found_ := found_ + _more;
  delete from feedback where ctid = any (array(
    select ctid from feedback where tenant = _tenant and (_owner is null or owner = _owner) and token < _token limit _limit
  ));
  get diagnostics _more = row_count;
  found_ := found_ + _more;
  delete from outbox where ctid = any (array(
    select ctid from outbox where tenant = _tenant and (_owner is null or owner = _owner) and token < _token limit _limit
  ));
  get diagnostics _more = row_count;
  found_ := found_ + _more;
  delete from key_values where ctid = any (array(
    select ctid from key_values where tenant = _tenant and (_owner is null or owner = _owner) and token < _token limit _limit
  ));
  get diagnostics _more = row_count;
  found_ := found_ + _more;
  delete from feedback where ctid = any (array(
    select ctid from feedback where tenant = _tenant and author = _owner and token < _token limit _limit
  ));
  get diagnostics _more = row_count;
  found_ := found_ + _more;
  delete from rollout_turns where ctid = any (array(
    select ctid from rollout_turns where tenant_digest = digest(to_json(array[_tenant])::text)
    and (_owner is null or owner_digest = digest(to_json(array[_tenant, _owner])::text)) and token < _token limit _limit
  ));
  get diagnostics _more = row_count;
  found_ := found_ + _more;
  update holds set names = null, run = null, tenant = null, owner = null where ctid = any (array(
    select ctid from holds where tenant = _tenant and (_owner is null or owner = _owner) and token < _token limit _limit
  ));
  get diagnostics _more = row_count;
  found_ := found_ + _more;
end $function$;

CREATE OR REPLACE FUNCTION erased(_tenant text, _owner text, _agent text, _session text, OUT token_ bigint, OUT at_ double precision)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
begin
  if not exists (select from erasures) then return; end if;
  select max(token), max(at) into token_, at_ from erasures
    where subject in (
      digest(to_json(array[_tenant])::text), digest(to_json(array[_tenant, _owner])::text),
      digest(to_json(array[_tenant, _owner, _agent, _session])::text)
    ) and expires_at > now_ms();
end $function$;

CREATE OR REPLACE FUNCTION events_gone()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from blob_holders where tenant = old.tenant and owner = old.owner and agent = old.agent and session = old.session and kind = 'event' and holder = old.turn_id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION expire_runs(_statuses text[], _ms double precision[])
 RETURNS TABLE(status text, gone integer)
 LANGUAGE sql
AS $function$
  with due as (
    select r.n from unnest(_statuses, _ms) e (status, ms), lateral (
      select o.n from runs o
      where o.status = e.status and o.updated_at < (select now_ms()) - e.ms and not exists (
        select from pending_calls w
        where w.tenant = o.tenant and w.owner = o.owner and w.agent = o.session_agent and w.session = o.session and w.turn_id = o.run
      ) order by o.updated_at limit 1000 for update skip locked
    ) r
  ), gone as (
    delete from runs g where g.n in (select n from due) returning g.status
  )
  select g.status, count(*)::integer from gone g group by g.status
$function$;

CREATE OR REPLACE FUNCTION force_stop_run(_tenant text, _run text, _code text, _reason text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  r runs%rowtype;
begin
  select * into r from runs where tenant = _tenant and run = _run;
  if not found then return false; end if;
  perform from sessions
    where tenant = _tenant and owner = r.owner and agent = r.session_agent and id = r.session for update;
  update runs set status = 'aborted', code = _code, reason = _reason, updated_at = now_ms()
    where n = r.n and status in ('queued', 'running');
  if not found then return false; end if;
  update sessions set run = null, held_until = 0, token = -token
    where tenant = _tenant and owner = r.owner and agent = r.session_agent and id = r.session and run = _run;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION forget_accounts(_but text, _closed text[])
 RETURNS void
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
begin
  if cardinality(_closed) > 0 then
    update accounts set ends_at = 0 where name in (
      select name from accounts where name = any (_closed) and name <> _but for update skip locked
    );
  end if;
  perform free_holds(name) from (
    select name from accounts where ends_at <= (select now_ms()) and reserved <> 0 and name <> _but
    order by ends_at limit 100
  ) ended;
  with gone as (
    delete from accounts where name = any (array(
      select name from accounts where ends_at <= (select now_ms()) and reserved = 0 and name <> _but
      order by ends_at limit 100 for update skip locked
    )) returning name
  ) delete from holds h using gone where h.account = gone.name;
  delete from holds where ctid = any (array(
    select ctid from holds where settled and at < (select now_ms()) - 2592000000
    order by at limit 100 for update skip locked
  ));
end $function$;

CREATE OR REPLACE FUNCTION forget_erased(_tenant text, _owner text, _agent text, _session text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  e record;
begin
  select * into e from erased(_tenant, _owner, _agent, _session);
  if e.token_ is null then return; end if;
  perform from sessions where tenant = _tenant and owner = _owner and agent = _agent and id = _session and abs(token) < e.token_ for update;
  if found then perform forget_sessions(_tenant, array[_owner], array[_agent], array[_session]); end if;
end $function$;

CREATE OR REPLACE FUNCTION forget_sessions(_tenant text, _owners text[], _agents text[], _ids text[])
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  _stored integer;
begin
  insert into usage_totals as t (subject, day, runs, estimated, inputtokens, outputtokens, cachedinputtokens, cachewritetokens, reasoningtokens, calls)
    select digest(_tenant), to_char(to_timestamp(ended_at / 1000) at time zone 'UTC', 'YYYY-MM-DD') as day, count(*) as runs,
  sum(case when usage::json->>'estimated' = 'true' then 1 else 0 end) as estimated,
  sum(coalesce((usage::json->>'inputTokens')::double precision, 0)) as inputtokens, sum(coalesce((usage::json->>'outputTokens')::double precision, 0)) as outputtokens, sum(coalesce((usage::json->>'cachedInputTokens')::double precision, 0)) as cachedinputtokens, sum(coalesce((usage::json->>'cacheWriteTokens')::double precision, 0)) as cachewritetokens, sum(coalesce((usage::json->>'reasoningTokens')::double precision, 0)) as reasoningtokens, sum(coalesce((usage::json->>'calls')::double precision, 0)) as calls from turns
    where tenant = _tenant and (owner, agent, session) in (select * from unnest(_owners, _agents, _ids)) and ended_at is not null and status not in ('closed', 'rewound') group by day
    on conflict (subject, day) do update set runs = t.runs + excluded.runs, estimated = t.estimated + excluded.estimated, inputtokens = t.inputtokens + excluded.inputtokens, outputtokens = t.outputtokens + excluded.outputtokens, cachedinputtokens = t.cachedinputtokens + excluded.cachedinputtokens, cachewritetokens = t.cachewritetokens + excluded.cachewritetokens, reasoningtokens = t.reasoningtokens + excluded.reasoningtokens, calls = t.calls + excluded.calls;
  with gone as (
    delete from sessions where tenant = _tenant and (owner, agent, id) in (select * from unnest(_owners, _agents, _ids)) returning status
  ) select count(status) into _stored from gone;
  return _stored;
end $function$;

CREATE OR REPLACE FUNCTION forget_tenant(_tenant text)
 RETURNS void
 LANGUAGE sql
AS $function$
  delete from queue_turns where tenant = _tenant;
  update queue_starts set tenant = '' where tenant = _tenant;
$function$;

CREATE OR REPLACE FUNCTION forget_turns()
 RETURNS void
 LANGUAGE sql
AS $function$
  delete from queue_turns where at < (select now_ms()) - 86400000;
  delete from queue_starts where expires_at <= (select now_ms());
$function$;

CREATE OR REPLACE FUNCTION free_holds(_account text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  _over numeric;
begin
  perform from accounts where name = _account for update skip locked;
  if not found then return; end if;
  with over as (
    update holds set freed = true
      where account = _account and not settled and not freed and expires_at <= now_ms() returning amount
  ) select coalesce(sum(amount), 0) into _over from over;
  if _over <> 0 then update accounts set reserved = reserved - _over where name = _account; end if;
end $function$;

CREATE OR REPLACE FUNCTION give_up_run(_tenant text, _owner text, _session_agent text, _session text, _token bigint, _run text, _status text, _code text, _reason text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  _version integer;
begin
  update sessions set run = null, held_until = 0, token = -token
    where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session and token = _token and run = _run and held_until > now_ms()
    returning version into _version;
  if not found then
    return exists (
      select from runs where tenant = _tenant and run = _run and session_version is not null and token = _token
    );
  end if;
  update runs set status = _status, code = _code, reason = _reason, session_version = _version, updated_at = now_ms()
    where tenant = _tenant and run = _run;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION has_startable(_agent text, _version text, _queue text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  _now double precision := now_ms();
begin
  return exists (select from runs r join sessions s on s.tenant = r.tenant and s.owner = r.owner and s.agent = r.session_agent and s.id = r.session and (s.run is null or s.run = r.run) and s.held_until <= _now where hashtextextended(r.queue, hashtextextended(r.version, hashtextextended(r.agent, 0)))
      = hashtextextended(_queue, hashtextextended(_version, hashtextextended(_agent, 0)))
    and r.queue = _queue and r.version = _version and r.agent = _agent and r.status = 'queued' and r.rank is not null);
end $function$;

CREATE OR REPLACE FUNCTION hold_blobs(_tenant text, _owner text, _session_agent text, _session text, _token bigint, _write text, _blobs text[])
 RETURNS integer[]
 LANGUAGE plpgsql
AS $function$
begin
  if _token is null then
    perform forget_erased(_tenant, _owner, _session_agent, _session);
  else
    perform from sessions
      where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session and token = _token for key share;
    if not found then return null; end if;
  end if;
  perform pg_advisory_xact_lock_shared(hashtextextended('blobs ' || to_json(array[_tenant, _owner])::text, 0));
  insert into blob_holders
    select _tenant, _owner, _session_agent, _session, 'write', _write, b, now_ms() from unnest(_blobs) b
    where not exists (select from blob_holders where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and kind = 'write' and holder = _write and digest = b);
  return array(
    select (select count(*)::integer from blobs where tenant = _tenant and owner = _owner and digest = b.digest)
    from unnest(_blobs) with ordinality b (digest, place) order by b.place
  );
end $function$;

CREATE OR REPLACE FUNCTION hold_records(_tenant text, _owner text, _session_agent text, _session text, _records text[], _blobs text[])
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into blob_holders
    select _tenant, _owner, _session_agent, _session, 'record', r.id, r.blob, now_ms()
    from unnest(_records, _blobs) r (id, blob)
    where exists (select from outbox o where o.id = r.id and o.tenant = _tenant)
    and not exists (select from blob_holders h where h.kind = 'record' and h.holder = r.id and h.tenant = _tenant and h.digest = r.blob)
$function$;

CREATE OR REPLACE FUNCTION keep_blobs(_tenant text, _owner text, _session_agent text, _session text, _kind text, _turn_id text, _write text, _blobs text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  delete from blob_holders where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and kind = 'open' and _kind in ('turn', 'open')
    and not (_kind = 'open' and holder = _turn_id and digest = any (_blobs));
  if cardinality(_blobs) = 0 then return; end if;
  if _kind = 'part' then _kind := 'open'; end if;
  update blob_holders h set kind = _kind, holder = _turn_id where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and kind = 'write' and holder = _write and not exists (
    select from blob_holders where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and kind = _kind and holder = _turn_id and digest = h.digest
  );
  delete from blob_holders where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and kind = 'write' and holder = _write;
  if exists (
    select from unnest(_blobs) b where not exists (
      select from blob_holders where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and kind = _kind and holder = _turn_id and digest = b
    )
  ) then
    raise exception 'The write no longer holds its blobs.' using errcode = 'AL001';
  end if;
end $function$;

CREATE OR REPLACE FUNCTION keep_turn(_tenant text, _owner text, _session_agent text, _session text, _token bigint, _version integer, _ended boolean, _release boolean, _turn_id text, _idempotency_key text, _status text, _started_at double precision, _ended_at double precision, _usage text, _start integer, _count integer, _digests text[], _messages bytea, _rest bytea, _info bytea, _records text[], _bodies bytea[], _calls text[], _call_turns text[], _call_names text[], _call_expiries double precision[], _call_tokens text[], _after integer, _passages jsonb, OUT outcome_ text, OUT version_ integer, OUT length_ integer)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  held sessions%rowtype;
  known text;
  is_live boolean;
begin
  select * into held from sessions where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session for update;
  is_live := found and held.token = _token and held.held_until > now_ms();
  version_ := held.version;
  length_ := held.length;
  select digest into known from turns
    where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and seq >= 0
    and hashtextextended(turn_id, 0) = hashtextextended(_turn_id, 0) and turn_id = _turn_id;
  if _ended and known = any (_digests) then
    if _release and held.token = _token then
      update sessions set held_until = 0 where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session;
    end if;
    outcome_ := 'stored';
    return;
  end if;
  outcome_ := case
    when not is_live then 'fenced'
    when known is not null then 'taken'
    when held.version <> _version or _start > held.length then 'conflict'
    else 'stored'
  end;
  if outcome_ <> 'stored' then return; end if;

  if _after > 0 then
    insert into turn_parts
      select _tenant, _owner, _session_agent, _session, coalesce(p.n + 1, 0), _count, _messages
      from turns t left join lateral (
        select n, count from turn_parts where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session order by n desc limit 1
      ) p on true
      where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and seq = -1 and turn_id = _turn_id and sealed_as = _session_agent
      and start = _start and coalesce(p.count, t.count) >= _after;
    if not found then
      outcome_ := 'missing';
      return;
    end if;
  else
    delete from turns where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and seq = -1;
    insert into turns values (
      _tenant, _owner, _session_agent, _session, case when _ended then _version else -1 end,
      _turn_id, _idempotency_key, _status, _started_at, _ended_at, _usage, _start, _count, _digests[1],
      _messages, _rest, _info, _session_agent,
      _ended and exists (select from turns where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and seq = _version - 1 and start >= _start)
    );
  end if;
  if not _ended then
    update sessions set open_turn = _turn_id, status = coalesce(status, 'running'), updated_at = now_ms()
      where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session;
    return;
  end if;
  update sessions set
    version = _version + 1, length = _start + _count, status = _status, open_turn = null, updated_at = now_ms(),
    held_until = case when _release then 0 else held_until end
    where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session;
  perform replace_passages(_tenant, _owner, _session_agent, _session, _version, _start, _passages);
  delete from pending_calls
    where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and call_id <> all (_calls);
  if cardinality(_calls) > 0 then
    update pending_calls w set turn_id = c.turn, name = c.name, expires_at = c.expires, token = c.token
      from unnest(_calls, _call_turns, _call_names, _call_expiries, _call_tokens) as c (id, turn, name, expires, token)
      where w.tenant = _tenant and w.owner = _owner and w.agent = _session_agent and w.session = _session and w.call_id = c.id;
    insert into pending_calls (tenant, owner, agent, session, call_id, turn_id, name, expires_at, token)
      select _tenant, _owner, _session_agent, _session, c.id, c.turn, c.name, c.expires, c.token
      from unnest(_calls, _call_turns, _call_names, _call_expiries, _call_tokens) as c (id, turn, name, expires, token)
      where not exists (
        select from pending_calls w
        where w.tenant = _tenant and w.owner = _owner and w.agent = _session_agent and w.session = _session and w.call_id = c.id
      );
  end if;
  if cardinality(_records) > 0 then
    insert into outbox (id, tenant, owner, token, turn_id, added_at, body)
      select r.id, _tenant, _owner, _token, _turn_id, now_ms(), r.body from unnest(_records, _bodies) as r (id, body);
  end if;
end $function$;

CREATE OR REPLACE FUNCTION lock_queues(_names text[], _queues text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  _id bigint;
begin
  for _id in select distinct queue_id(a, q) as id from unnest(_names) a, unnest(_queues) q order by id loop
    perform pg_advisory_xact_lock(hashtextextended('queue', _id));
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION log_run()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'INSERT' then
    insert into run_log (run, at, kind) values (new.n, new.updated_at, 'added');
    if new.status = 'running' then
      insert into run_log (run, at, kind, attempt, detail) values (new.n, new.updated_at, 'claimed', new.attempts, new.worker);
    end if;
    return null;
  end if;
  if old.stop is null and new.stop is not null then
    insert into run_log (run, at, kind) values (new.n, now_ms(), 'stop');
  end if;
  if new.status = 'running' and old.token <> new.token then
    insert into run_log (run, at, kind, attempt, detail)
      values (new.n, now_ms(), 'claimed', new.attempts, new.worker);
  elsif new.status = 'queued' and old.status not in ('queued', 'running') then
    insert into run_log (run, at, kind) values (new.n, now_ms(), 'retried');
  elsif new.status not in ('queued', 'running') and old.status <> new.status then
    insert into run_log (run, at, kind, detail, code) values (new.n, now_ms(), 'ended', new.status, new.code);
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION log_step()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into run_log (run, at, kind, detail)
    select n, now_ms(), 'step', case when substr(new.id, 1, length(new.run) + 1) = new.run || ':' then substr(new.id, length(new.run) + 1) else new.id end from runs where tenant = new.tenant and run = new.run;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION look_at_rollout(_rollout text, _limit integer)
 RETURNS SETOF rollouts
 LANGUAGE plpgsql
AS $function$
declare
  r rollouts%rowtype;
  _user text;
begin
  select * into r from rollouts where name = _rollout;
  if not found then return; end if;
  if r.stopped_at is null then
    for _user in select distinct user_digest from rollout_turns
      where rollout = _rollout and closes_at <= now_ms() and round = r.round limit _limit
    loop
      if pg_try_advisory_xact_lock(rollout_lock(_rollout, _user)) then
        perform close_rollout_window(_rollout, r.round, _user);
      end if;
    end loop;
  end if;
  delete from rollout_turns where n in (
    select n from rollout_turns where rollout = _rollout and (round < r.round or r.stopped_at is not null) limit 500 for update skip locked
  );
  return query select * from rollouts where name = _rollout;
end $function$;

CREATE OR REPLACE FUNCTION mark_reported()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update runs set reported = true where n in (
    select n from runs where tenant = new.tenant and run = new.turn_id and token = new.epoch
    and runs.status not in ('queued', 'running') for update skip locked
  );
  return null;
end $function$;

CREATE OR REPLACE FUNCTION memory_is_off(_tenant text, _owner text, _agent text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  if _agent like 'memory:documents/%' then return false; end if;
  perform pg_advisory_xact_lock_shared(hashtextextended('memory ' || to_json(array[_tenant, ''])::text, 0));
  perform pg_advisory_xact_lock_shared(hashtextextended('memory ' || to_json(array[_tenant, _owner])::text, 0));
  return exists (select from scopes where tenant = _tenant and owner in (_owner, '') and off is not null);
end $function$;

CREATE OR REPLACE FUNCTION migrate_run(_tenant text, _run text, _from text, _to text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  r runs%rowtype;
begin
  select * into r from runs where tenant = _tenant and run = _run and version = _from;
  if not found then return false; end if;
  -- A process that claims the run waits for this lock, and then sees the new version.
  perform from sessions
    where tenant = _tenant and owner = r.owner and agent = r.session_agent and id = r.session for update;
  perform from sessions
    where tenant = _tenant and owner = r.owner and agent = r.session_agent and id = r.session
    and run = _run and held_until > now_ms();
  if found then return false; end if;
  if r.status = 'failed' and not retry_run(_tenant, _run) then return false; end if;
  update runs set version = _to, attempts = 0, updated_at = now_ms()
    where n = r.n and version = _from and status in ('queued', 'running');
  return found;
end $function$;

CREATE OR REPLACE FUNCTION move_session(_tenant text, _owner text, _from text, _session_agent text, _session text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  delete from sessions where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session;
  update sessions set agent = _session_agent
    where tenant = _tenant and owner = _owner and agent = _from and id = _session;
  delete from vault where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session;
  update vault set agent = _session_agent
    where tenant = _tenant and owner = _owner and agent = _from and session = _session;
  delete from recordings where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session;
  update recordings set agent = _session_agent
    where tenant = _tenant and owner = _owner and agent = _from and session = _session;
  delete from feedback where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session;
  update feedback set agent = _session_agent
    where tenant = _tenant and owner = _owner and agent = _from and session = _session;
  update runs set session_agent = _session_agent
    where tenant = _tenant and owner = _owner and session_agent = _from and session = _session;
  delete from event_runs where tenant = _tenant and owner = _owner and agent = _from and session = _session;
end $function$;

CREATE OR REPLACE FUNCTION next_waiting(_agent text, _version text, _queue text, _tenant text, _after_rank double precision, _after bigint, OUT n_ bigint, OUT rank_ double precision, OUT turn_ double precision)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  _now double precision := now_ms();
  _priority integer;
  _last double precision;
begin
  select r.n, r.rank, r.priority into n_, rank_, _priority from runs r join sessions s on s.tenant = r.tenant and s.owner = r.owner and s.agent = r.session_agent and s.id = r.session and (s.run is null or s.run = r.run) and s.held_until <= _now
    where hashtextextended(r.queue, hashtextextended(r.version, hashtextextended(r.agent, 0)))
      = hashtextextended(_queue, hashtextextended(_version, hashtextextended(_agent, 0)))
    and r.queue = _queue and r.version = _version and r.agent = _agent and r.status = 'queued' and r.rank is not null and r.tenant = _tenant and (r.rank, r.n) > (_after_rank, _after) order by r.rank, r.n limit 1;
  if n_ is null then return; end if;
  select least(at, _now) into _last from queue_turns where queue = queue_id(_agent, _queue) and tenant = _tenant;
  turn_ := greatest(rank_, _last + _priority * 60000);
end $function$;

CREATE OR REPLACE FUNCTION now_ms()
 RETURNS double precision
 LANGUAGE sql
AS $function$ select extract(epoch from clock_timestamp())::double precision * 1000 $function$;

CREATE OR REPLACE FUNCTION outbox_now()
 RETURNS double precision
 LANGUAGE sql
AS $function$
  select elapsed + least(greatest(now_ms() - seen_at, 0), 86400000) from outbox_clock
$function$;

CREATE OR REPLACE FUNCTION postpone_records(_consumer text, _ids text[], _ms double precision, _longest double precision)
 RETURNS void
 LANGUAGE sql
AS $function$
  update outbox_deliveries p
    set held_until = now_ms() + greatest(_ms, least((outbox_now() - o.since) / 2, _longest))
    from outbox o where o.id = any (_ids) and p.seq = o.seq and p.consumer = _consumer and not p.done
$function$;

CREATE OR REPLACE FUNCTION put_schedule(_tenant text, _owner text, _id text, _agent text, _cron text, _tz text, _missed text, _session text, _request bytea, _next_at double precision, _agents text[], _per_owner integer, OUT problem_ text, OUT agent_ text, OUT row_ schedules)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
begin
  -- Puts of an owner run one after the other, so that they stay within the limit.
  perform pg_advisory_xact_lock(hashtextextended('schedules ' || to_json(array[_tenant, _owner])::text, 0));
  select agent into agent_ from current_schedule(_tenant, _owner, _id);
  if not found then
    delete from schedules where tenant = _tenant and owner = _owner and id = _id;
    if (select count(*) from schedules where tenant = _tenant and owner = _owner) >= _per_owner then
      problem_ := 'full';
      return;
    end if;
  elsif not agent_ = any (_agents) then
    problem_ := 'agent';
    return;
  end if;
  insert into schedules as s (tenant, owner, id, agent, cron, tz, missed, session, request, next_at, due_at, token)
    values (_tenant, _owner, _id, _agent, _cron, _tz, _missed, _session, _request, _next_at, _next_at,
      writer_token(_tenant, _owner, null, null, null, null))
    on conflict (tenant, owner, id) do update set agent = excluded.agent, cron = excluded.cron, tz = excluded.tz,
      missed = excluded.missed, session = excluded.session, request = excluded.request, next_at = case when s.paused is not null then null when s.cron = excluded.cron and s.tz = excluded.tz then s.next_at else excluded.next_at end,
      due_at = case when s.paused is not null then null when s.cron = excluded.cron and s.tz = excluded.tz then s.due_at else excluded.due_at end, revision = s.revision + 1, token = excluded.token
    returning * into row_;
end $function$;

CREATE OR REPLACE FUNCTION queue_id(_agent text, _queue text)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE
AS $function$ select hashtextextended(_queue, hashtextextended(_agent, 0)) $function$;

CREATE OR REPLACE FUNCTION queue_lanes(_agents text[], _versions text[], _queues jsonb)
 RETURNS TABLE(lane_ integer, agent_ text, version_ text, queue_ text, limits_ jsonb)
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select (row_number() over ())::integer, a.agent, a.version, q ->> 'name', q
  from jsonb_array_elements(_queues) q, unnest(_agents, _versions) a (agent, version)
$function$;

CREATE OR REPLACE FUNCTION queue_room(_names text[], _queue text, _limits jsonb, _tenant text)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  _running integer := _limits ->> case when _tenant is null then 'concurrency' else 'perTenant' end;
  _starts integer := _limits -> 'rateLimit' ->> case when _tenant is null then 'limit' else 'perTenant' end;
  _since double precision := now_ms() - coalesce((_limits -> 'rateLimit' ->> 'period')::double precision, 0);
  _room integer := 2147483647;
  _count integer;
begin
  if _running is not null then
    if _tenant is null then
      select count(*) into _count from (select from runs where status = 'running' and agent = any (_names)
      and hashtextextended(queue, 0) = hashtextextended(_queue, 0) and queue = _queue limit _running) r;
    else
      select count(*) into _count from (select from runs where status = 'running' and agent = any (_names)
      and hashtextextended(queue, 0) = hashtextextended(_queue, 0) and queue = _queue and hashtextextended(tenant, 0) = hashtextextended(_tenant, 0) and tenant = _tenant limit _running) r;
    end if;
    _room := _running - _count;
  end if;
  if _starts is not null then
    if _tenant is null then
      select count(*) into _count from (select from queue_starts where queue = any (array(select queue_id(a, _queue) from unnest(_names) a)) and at > _since limit _starts) r;
    else
      select count(*) into _count from (
        select from queue_starts where queue = any (array(select queue_id(a, _queue) from unnest(_names) a)) and tenant = _tenant and at > _since limit _starts
      ) r;
    end if;
    _room := least(_room, _starts - _count);
  end if;
  return _room;
end $function$;

CREATE OR REPLACE FUNCTION record_gone()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from blob_holders where kind = 'record' and holder = old.id and tenant = old.tenant;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION record_step(_tenant text, _owner text, _session_agent text, _session text, _token bigint, _run text, _id text, _body bytea)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  perform from sessions
    where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session and token = _token and run = _run and held_until > now_ms() for share;
  if not found then return false; end if;
  insert into steps values (_tenant, _run, _id, _token, _body, _session_agent) on conflict do nothing;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION records_done(_consumer text, _ids text[], _consumers text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare _seqs bigint[];
begin
  select array_agg(o.seq) into _seqs from (
    select seq from outbox where id = any (_ids) order by seq for update
  ) o;
  insert into outbox_deliveries (consumer, seq, held_until, done)
    select _consumer, seq, 0, true from unnest(_seqs) as seq
    on conflict (seq, consumer) do update set done = true;
  if cardinality(_consumers) = 0 then return; end if;
  delete from outbox o where o.seq = any (_seqs) and not exists (
    select from unnest(_consumers) as c (consumer) where not exists (
      select from outbox_deliveries p where p.seq = o.seq and p.consumer = c.consumer and p.done
    )
  );
end $function$;

CREATE OR REPLACE FUNCTION replace_passages(_tenant text, _owner text, _session_agent text, _session text, _seq integer, _start integer, _passages jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  _last integer;
begin
  select coalesce(max(position), -1) into _last from passages where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session;
  if _last >= 0 then
    _last := coalesce((
      select position from passages where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and idx < _start order by position desc limit 1
    ), -1);
    delete from passages where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and position > _last;
  end if;
  if _passages is null or memory_is_off(_tenant, _owner, _session_agent) then return; end if;
  insert into passages (tenant, owner, agent, session, position, idx, seq, role, author, at, words, flow, terms, counts)
    select _tenant, _owner, _session_agent, _session, _last + i, (p ->> 0)::integer, _seq, p ->> 1, p ->> 2,
      (p ->> 3)::double precision, (p ->> 4)::integer, (p ->> 5)::smallint,
      array(select t::bigint from jsonb_array_elements_text(p -> 6) t), array(select c::smallint from jsonb_array_elements_text(p -> 7) c)
    from jsonb_array_elements(_passages) with ordinality as a (p, i) order by i;
end $function$;

CREATE OR REPLACE FUNCTION reserve(_id text, _account text, _amount numeric, _limit double precision, _ends_in double precision, _closed text[], _ttl double precision, _run text, _tenant text, _owner text, _lease bigint, _began double precision, OUT amount_ numeric)
 RETURNS numeric
 LANGUAGE plpgsql
AS $function$
declare
  held accounts%rowtype;
  _now double precision := now_ms();
  _name text := digest(_account);
  _hold text := digest(_id);
  _over numeric;
  _known holds%rowtype;
  _token bigint := 0;
begin
  if _run is not null and _tenant is not null then
    _token := writer_token(_tenant, _owner, null, null, _lease, _began);
  end if;
  loop
    select * into held from accounts where name = _name for update;
    exit when found;
    insert into accounts (name) values (_name) on conflict do nothing;
  end loop;
  if cardinality(_closed) > 0 or random() < 0.02 then
    perform forget_accounts(_name, array(select digest(c) from unnest(_closed) c));
  end if;
  select * into _known from holds where account = _name and id = _hold;
  if found then
    amount_ := _known.amount;
    if _known.settled or (_known.expires_at is null and _ttl is null) then return; end if;
    update holds set expires_at = _now + _ttl, freed = false where account = _name and id = _hold;
    if _known.freed then
      update accounts set reserved = reserved + _known.amount where name = _name;
    end if;
    return;
  end if;
  with over as (
    update holds set freed = true
      where account = _name and not settled and not freed and expires_at <= _now returning amount
  ) select coalesce(sum(amount), 0) into _over from over;
  if (held.spent + held.reserved - _over + _amount)::double precision > _limit then
    if _over <> 0 then update accounts set reserved = reserved - _over where name = _name; end if;
    return;
  end if;
  if _run is null or _token is null then
    insert into holds (account, id, amount, at, expires_at) values (_name, _hold, _amount, _now, _now + _ttl);
  else
    -- A run finds its hold by these, until that is settled or its owner is erased.
    insert into holds (account, id, amount, at, expires_at, run, names, tenant, owner, token) values (
      _name, _hold, _amount, _now, _now + _ttl, digest(_run), json_build_array(_account, _id)::text, _tenant, _owner, _token
    );
  end if;
  update accounts
    set reserved = reserved - _over + _amount, ends_at = coalesce(_now + _ends_in, ends_at) where name = _name;
  amount_ := _amount;
end $function$;

CREATE OR REPLACE FUNCTION restart_rollout(_rollout text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  update rollouts set round = round + 1, started_at = now_ms(), counts = array_fill(0::bigint, array[28]), max_drop = null, alpha = null,
    stopped_at = null, stopped_by = null, stop_id = null, good_at = null, good_id = null where name = _rollout;
  return found;
end $function$;

CREATE OR REPLACE FUNCTION retry_run(_tenant text, _run text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  r runs%rowtype;
begin
  select * into r from runs where tenant = _tenant and run = _run;
  if not found then return false; end if;
  perform from sessions
    where tenant = _tenant and owner = r.owner and agent = r.session_agent and id = r.session and version = r.session_version for update;
  if not found then return false; end if;
  update runs
    set status = 'queued', attempts = 0, token = 0, session_version = null, reported = false, code = null, reason = null, stop = null,
    run_at = now_ms(), updated_at = now_ms(), rank = now_ms() + priority * 60000
    where n = r.n and status = 'failed' and session_version is not null and not exists (
      select from runs l where l.tenant = r.tenant and l.owner = r.owner and l.session_agent = r.session_agent and l.session = r.session and l.n > r.n
    );
  return found;
end $function$;

CREATE OR REPLACE FUNCTION rewrite_passages(_tenant text, _owner text, _session_agent text, _session text, _turns integer, _seq integer, _turn_id text, _start integer, _passages jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  perform from sessions where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session and version = _turns for update;
  if not found or memory_is_off(_tenant, _owner, _session_agent)
    or not exists (select from turns where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and seq = _seq and turn_id = _turn_id)
  then return false; end if;
  perform replace_passages(_tenant, _owner, _session_agent, _session, _seq, _start, _passages);
  return true;
end $function$;

CREATE OR REPLACE FUNCTION rollout_lock(_rollout text, _user text)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE
AS $function$ select hashtextextended('rollout ' || _rollout || ' ' || _user, 0) $function$;

CREATE OR REPLACE FUNCTION rollout_turn(_rollout text, _tenant text, _owner text, _session text, _turn text)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$ select digest(to_json(array['rollout turn', _rollout, _tenant, _owner, _session, _turn])::text) $function$;

CREATE OR REPLACE FUNCTION run_gone()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from blob_holders where tenant = old.tenant and owner = old.owner and agent = old.session_agent and session = old.session and kind in ('task', 'step') and holder = old.run;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION run_log_gone()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from run_log where run = old.n;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION save_vault(_tenant text, _owner text, _agent text, _session text, _layer text, _body bytea, _lease bigint, _began double precision)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  _token bigint := writer_token(_tenant, _owner, _agent, _session, _lease, _began);
begin
  if _token is null then return false; end if;
  insert into vault (tenant, owner, agent, session, layer, body, sealed_as, token)
    values (_tenant, _owner, _agent, _session, _layer, _body, _agent, _token)
    on conflict (tenant, owner, agent, session, layer)
    do update set body = excluded.body, sealed_as = excluded.sealed_as, token = excluded.token;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION scope_key(_tenant text, _owner text, _always boolean, _key bytea, _lease bigint, _began double precision, OUT token_ bigint, OUT key_ bytea)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
begin
  token_ := writer_token(_tenant, _owner, null, null, _lease, _began);
  if token_ is null or not _always and memory_is_off(_tenant, _owner, '') then return; end if;
  if _key is not null then
    insert into scopes as s (tenant, owner, key) values (_tenant, _owner, _key)
      on conflict (tenant, owner) do update set key = coalesce(s.key, excluded.key);
  end if;
  select key into key_ from scopes where tenant = _tenant and owner = _owner;
end $function$;

CREATE OR REPLACE FUNCTION score_rollout_turn(_tenant text, _owner text, _session text, _turn text, _rollout text, _score double precision)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  _digest text := rollout_turn(_rollout, _tenant, _owner, _session, _turn);
  _round bigint;
  _user text;
  _size integer;
begin
  select t.round, user_digest, size into _round, _user, _size from rollout_turns t
    join rollouts r on r.name = t.rollout and r.round = t.round and r.stopped_at is null
    where t.rollout = _rollout and t.turn = _digest;
  if not found then return false; end if;
  perform pg_advisory_xact_lock(rollout_lock(_rollout, _user));
  update rollout_turns set score = _score, settled = true where rollout = _rollout and turn = _digest and round = _round;
  if not found then return false; end if;
  if (select count(*) >= _size and bool_and(settled) from rollout_turns
    where rollout = _rollout and user_digest = _user and round = _round)
  then perform close_rollout_window(_rollout, _round, _user); end if;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION session_gone()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from blob_holders where tenant = old.tenant and owner = old.owner and agent = old.agent and session = old.id and kind in ('turn', 'open', 'write');
  return null;
end $function$;

CREATE OR REPLACE FUNCTION session_moved()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update blob_holders set agent = new.agent
    where tenant = old.tenant and owner = old.owner and agent = old.agent and session = old.id and kind <> 'event';
  return null;
end $function$;

CREATE OR REPLACE FUNCTION set_memory_off(_tenant text, _owner text, _off double precision, _is_fenced boolean, _lease bigint, _began double precision)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  if _is_fenced and writer_token(_tenant, _owner, null, null, _lease, _began) is null then return false; end if;
  perform pg_advisory_xact_lock(hashtextextended('memory ' || to_json(array[_tenant, _owner])::text, 0));
  insert into scopes (tenant, owner, off) values (_tenant, _owner, _off) on conflict (tenant, owner) do update set off = excluded.off;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION set_value(_key text, _value bytea, _ttl double precision, _tenant text, _owner text, _lease bigint, _began double precision)
 RETURNS boolean
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
declare
  _token bigint := 0;
begin
  if _tenant is not null then _token := writer_token(_tenant, _owner, null, null, _lease, _began); end if;
  if _token is null then return false; end if;
  delete from key_values where key = any (array(
    select key from key_values where expires_at <= (select now_ms()) and key <> _key
    order by expires_at limit 100 for update skip locked
  ));
  insert into key_values (key, value, expires_at, tenant, owner, token)
    values (_key, _value, now_ms() + _ttl, _tenant, _owner, _token)
    on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at, tenant = excluded.tenant,
      owner = excluded.owner, token = excluded.token;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION settle(_id text, _account text, _spent numeric)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  _name text := digest(_account);
  held numeric;
begin
  perform from accounts where name = _name for update;
  update holds set settled = true, names = null, run = null, tenant = null, owner = null
    where account = _name and id = digest(_id) and not settled
    returning case when freed then 0 else amount end into held;
  if not found then return; end if;
  update accounts set spent = spent + _spent, reserved = reserved - held where name = _name;
end $function$;

CREATE OR REPLACE FUNCTION take_outbox(_consumer text, _limit integer, _ms double precision, _keep double precision)
 RETURNS SETOF outbox
 LANGUAGE plpgsql
AS $function$
declare
  c outbox_cursors%rowtype;
  _again bigint[];
  _new bigint[];
begin
  perform pg_advisory_xact_lock(hashtextextended('outbox ' || _consumer, 0));
  update outbox_clock set elapsed = outbox_now(), seen_at = now_ms()
    where abs(now_ms() - seen_at) > 60000;
  delete from outbox where seq in (
    select seq from outbox where since < (select outbox_now()) - _keep order by since limit 1000 for update skip locked
  );
  insert into outbox_cursors (consumer) values (_consumer) on conflict do nothing;
  select * into c from outbox_cursors where consumer = _consumer;
  if c.next > c.seen and pg_snapshot_xmin(pg_current_snapshot()) >= c.next_xid then c.seen := c.next; end if;
  _again := array(
    select o.seq from outbox_deliveries p join outbox o on o.seq = p.seq
    where p.consumer = _consumer and not p.done and p.held_until <= (select now_ms())
    order by p.seq limit _limit for key share of o skip locked
  );
  _new := array(
    select o.seq from outbox o where o.seq > c.seen
    and not exists (select from outbox_deliveries p where p.seq = o.seq and p.consumer = _consumer)
    order by o.seq limit _limit - cardinality(_again) for key share of o skip locked
  );
  insert into outbox_deliveries (consumer, seq, held_until, done)
    select _consumer, seq, now_ms() + _ms, false from unnest(_again || _new) seq
    on conflict (seq, consumer) do update set held_until = excluded.held_until;
  -- One statement, and so one snapshot. A record that another process had locked was skipped, so the cursor stays before it.
  if c.next <= c.seen then
    select coalesce(min(o.seq) filter (where p.seq is null) - 1, max(o.seq), c.seen), pg_snapshot_xmax(pg_current_snapshot())
      into c.next, c.next_xid
      from outbox o left join outbox_deliveries p on p.seq = o.seq and p.consumer = _consumer
      where o.seq > c.seen;
  end if;
  update outbox_cursors set seen = c.seen, next = c.next, next_xid = c.next_xid
    where consumer = _consumer and (seen, next) is distinct from (c.seen, c.next);
  return query select o.* from outbox o where o.seq = any (_again || _new) order by o.seq;
end $function$;

CREATE OR REPLACE FUNCTION take_run(_n bigint, _ms double precision, _attempts integer, _worker text, OUT n_ bigint, OUT token_ bigint, OUT version_ integer, OUT open_ boolean)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  r runs%rowtype;
begin
  select * into r from runs where n = _n;
  select t.token_, t.version_, t.open_ into token_, version_, open_
    from take_session(r.tenant, r.owner, r.session_agent, r.session, _ms, case when r.status in ('queued', 'running') then r.run end) t;
  if token_ is null then return; end if;
  n_ := _n;
  update runs set token = token_, updated_at = now_ms(),
    worker = case when status in ('queued', 'running') then _worker else worker end,
    status = case when status = 'queued' then 'running' else status end, attempts = coalesce(_attempts, attempts)
    where n = _n;
end $function$;

CREATE OR REPLACE FUNCTION take_session(_tenant text, _owner text, _session_agent text, _session text, _ms double precision, _run text, OUT token_ bigint, OUT version_ integer, OUT open_ boolean, OUT held_until_ double precision)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
begin
  loop
    update sessions set token = nextval('tokens'), held_until = now_ms() + _ms, run = _run
      where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session and held_until <= now_ms() and (run is null or run = _run)
      returning token, version, open_turn is not null into token_, version_, open_;
    if found then return; end if;
    -- A session that belongs to a run is held until a process takes that run over.
    select greatest(held_until, now_ms() + case when run is distinct from _run and run is not null then _ms else 0 end)
      into held_until_ from sessions
      where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session and (held_until > now_ms() or run is distinct from _run and run is not null);
    if found then return; end if;
    insert into sessions (tenant, owner, agent, id) values (_tenant, _owner, _session_agent, _session) on conflict do nothing;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION task_gone()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from blob_holders where tenant = old.tenant and owner = old.owner and agent = old.session_agent and session = old.session and kind = 'task' and holder = old.run;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION writer_token(_tenant text, _owner text, _agent text, _session text, _lease bigint, _began double precision)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  e record;
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('erasure ' || _tenant, 0));
  select * into e from erased(_tenant, _owner, _agent, _session);
  if _lease < e.token_ or _lease is null and _began <= e.at_ then return null; end if;
  -- Null before the first token. The right to use the sequence is enough to read it.
  return coalesce(_lease, pg_sequence_last_value('tokens'::regclass), 0);
end $function$;

CREATE TRIGGER blob_unheld AFTER DELETE ON blob_holders FOR EACH ROW EXECUTE FUNCTION blob_unheld();

CREATE TRIGGER events_gone AFTER DELETE ON event_runs FOR EACH ROW EXECUTE FUNCTION events_gone();

CREATE TRIGGER record_gone AFTER DELETE ON outbox FOR EACH ROW EXECUTE FUNCTION record_gone();

CREATE TRIGGER run_added AFTER INSERT ON runs FOR EACH ROW EXECUTE FUNCTION log_run();

CREATE TRIGGER run_changed AFTER UPDATE ON runs FOR EACH ROW WHEN (((old.status IS DISTINCT FROM new.status) OR (old.token IS DISTINCT FROM new.token) OR (old.stop IS DISTINCT FROM new.stop))) EXECUTE FUNCTION log_run();

CREATE TRIGGER run_gone AFTER DELETE ON runs FOR EACH ROW EXECUTE FUNCTION run_gone();

CREATE TRIGGER run_log_gone AFTER DELETE ON runs FOR EACH ROW EXECUTE FUNCTION run_log_gone();

CREATE TRIGGER run_reported AFTER UPDATE OF ended_at ON event_runs FOR EACH ROW WHEN ((new.ended_at IS NOT NULL)) EXECUTE FUNCTION mark_reported();

CREATE TRIGGER session_gone AFTER DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION session_gone();

CREATE TRIGGER session_moved AFTER UPDATE OF agent ON sessions FOR EACH ROW EXECUTE FUNCTION session_moved();

CREATE TRIGGER step_recorded AFTER INSERT ON steps FOR EACH ROW EXECUTE FUNCTION log_step();

CREATE TRIGGER task_gone AFTER UPDATE OF task ON runs FOR EACH ROW WHEN (((old.task IS NOT NULL) AND (new.task IS NULL))) EXECUTE FUNCTION task_gone();
