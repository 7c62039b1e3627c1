/** Eleven scores, users without a score, turns, and turns without a score, for each of two arms. */
const noCounts = 'array_fill(0::bigint, array[28])'

/**
 * Rollouts with their counts, and the turns of open windows, by digests. The row of a user that has counted has no turn, so that it does
 * not count again. A lock per user lets one transaction at a time change its window.
 */
export const rollouts = `
create table {s}.rollouts (
  name text collate "C" primary key,
  round bigint not null default 1,
  started_at double precision not null default {s}.now_ms(),
  max_drop double precision,
  alpha double precision,
  stopped_at double precision,
  stopped_by text,
  stop_id text,
  good_at double precision,
  good_id text,
  counts bigint[] not null default ${noCounts}
);
create table {s}.rollout_turns (
  n bigint generated always as identity primary key,
  rollout text collate "C" not null, round bigint not null,
  user_digest text collate "C" not null, turn text collate "C" not null,
  tenant_digest text collate "C" not null, owner_digest text collate "C" not null, token bigint not null,
  changed boolean not null,
  size integer not null,
  closes_at double precision,
  settled boolean not null default false,
  score double precision,
  unique (rollout, user_digest, round, turn)
);
create index rollout_turns_by_turn on {s}.rollout_turns (rollout, turn);
create index rollout_turns_by_end on {s}.rollout_turns (rollout, closes_at);
create index rollout_turns_by_owner on {s}.rollout_turns (tenant_digest, owner_digest);

create function {s}.rollout_lock(_rollout text, _user text) returns bigint language sql immutable as
  $$ select hashtextextended('{s}.rollout ' || _rollout || ' ' || _user, 0) $$;

-- Without the agent, because a renamed agent keeps its turns.
create function {s}.rollout_turn(_rollout text, _tenant text, _owner text, _session text, _turn text) returns text
language sql stable as
  $$ select {s}.digest(to_json(array['rollout turn', _rollout, _tenant, _owner, _session, _turn])::text) $$;

-- Returns false if the data of the owner were erased since the run began.
create function {s}.begin_rollout_turn(
  _tenant text, _owner text, _agent text, _session text, _turn text, _lease bigint, _began double precision,
  _rollout text, _user text, _changed boolean, _size integer, _ms double precision, _max_drop double precision, _alpha double precision
) returns boolean language plpgsql as $$
declare
  r {s}.rollouts%rowtype;
  _token bigint := {s}.writer_token(_tenant, _owner, _agent, _session, _lease, _began);
  _digest text := {s}.digest(to_json(array['rollout user', _rollout, _user])::text);
begin
  if _token is null then return false; end if;
  select * into r from {s}.rollouts where name = _rollout;
  if r.max_drop is null then
    insert into {s}.rollouts as t (name, max_drop, alpha) values (_rollout, _max_drop, _alpha)
      on conflict (name) do update set max_drop = excluded.max_drop, alpha = excluded.alpha where t.max_drop is null;
    select * into r from {s}.rollouts where name = _rollout;
  end if;
  if r.stopped_at is not null then return true; end if;
  perform pg_advisory_xact_lock({s}.rollout_lock(_rollout, _digest));
  insert into {s}.rollout_turns (rollout, round, user_digest, turn, tenant_digest, owner_digest, token, changed, size, closes_at)
    select _rollout, r.round, _digest, {s}.rollout_turn(_rollout, _tenant, _owner, _session, _turn),
      {s}.digest(to_json(array[_tenant])::text), {s}.digest(to_json(array[_tenant, _owner])::text), _token, _changed, _size, {s}.now_ms() + _ms
    from (
      select count(*) as turns, count(*) filter (where turn = '') as counted
      from {s}.rollout_turns where rollout = _rollout and user_digest = _digest and round = r.round
    ) w where counted = 0 and turns < _size
    on conflict do nothing;
  return true;
end $$;

-- Replaces the turns of a user with the row that says that it has counted. The caller has the lock of the user.
create function {s}.close_rollout_window(_rollout text, _round bigint, _user text) returns void language plpgsql as $$
declare
  _first record;
  w record;
  _arm integer;
  _bin integer;
begin
  select n, changed into _first from {s}.rollout_turns
    where rollout = _rollout and user_digest = _user and round = _round and turn <> '' order by n limit 1;
  if not found then return; end if;
  select count(*) as turns, count(score) as scored, avg(score) as mean into w from {s}.rollout_turns
    where rollout = _rollout and user_digest = _user and round = _round and turn <> '';
  delete from {s}.rollout_turns where rollout = _rollout and user_digest = _user and n <> _first.n;
  update {s}.rollout_turns set turn = '', closes_at = null, score = null where n = _first.n;
  _arm := case when _first.changed then 1 else 15 end;
  _bin := case when w.scored = 0 then 11 else least(floor(w.mean * 10 + random()), 10) end;
  update {s}.rollouts set counts[_arm + _bin] = counts[_arm + _bin] + 1, counts[_arm + 12] = counts[_arm + 12] + w.turns,
    counts[_arm + 13] = counts[_arm + 13] + w.turns - w.scored
    where name = _rollout and round = _round and stopped_at is null;
end $$;

create function {s}.score_rollout_turn(
  _tenant text, _owner text, _session text, _turn text, _rollout text, _score double precision
) returns boolean language plpgsql as $$
declare
  _digest text := {s}.rollout_turn(_rollout, _tenant, _owner, _session, _turn);
  _round bigint;
  _user text;
  _size integer;
begin
  select t.round, user_digest, size into _round, _user, _size from {s}.rollout_turns t
    join {s}.rollouts r on r.name = t.rollout and r.round = t.round and r.stopped_at is null
    where t.rollout = _rollout and t.turn = _digest;
  if not found then return false; end if;
  perform pg_advisory_xact_lock({s}.rollout_lock(_rollout, _user));
  update {s}.rollout_turns set score = _score, settled = true where rollout = _rollout and turn = _digest and round = _round;
  if not found then return false; end if;
  if (select count(*) >= _size and bool_and(settled) from {s}.rollout_turns
    where rollout = _rollout and user_digest = _user and round = _round)
  then perform {s}.close_rollout_window(_rollout, _round, _user); end if;
  return true;
end $$;

-- A user whose window another transaction is changing waits for the next look.
create function {s}.look_at_rollout(_rollout text, _limit integer) returns setof {s}.rollouts language plpgsql as $$
declare
  r {s}.rollouts%rowtype;
  _user text;
begin
  select * into r from {s}.rollouts where name = _rollout;
  if not found then return; end if;
  if r.stopped_at is null then
    for _user in select distinct user_digest from {s}.rollout_turns
      where rollout = _rollout and closes_at <= {s}.now_ms() and round = r.round limit _limit
    loop
      if pg_try_advisory_xact_lock({s}.rollout_lock(_rollout, _user)) then
        perform {s}.close_rollout_window(_rollout, r.round, _user);
      end if;
    end loop;
  end if;
  delete from {s}.rollout_turns where n in (
    select n from {s}.rollout_turns where rollout = _rollout and (round < r.round or r.stopped_at is not null) limit 500 for update skip locked
  );
  return query select * from {s}.rollouts where name = _rollout;
end $$;

-- Returns true again to a caller that repeats its decision with the same id.
create function {s}.decide_rollout(_rollout text, _round bigint, _verdict text, _by text, _id text) returns boolean language plpgsql as $$
begin
  if _verdict = 'stop' then
    update {s}.rollouts set stopped_at = {s}.now_ms(), stopped_by = _by, stop_id = _id
      where name = _rollout and round = _round and stopped_at is null;
  else
    update {s}.rollouts set good_at = {s}.now_ms(), good_id = _id
      where name = _rollout and round = _round and stopped_at is null and good_at is null;
  end if;
  return exists (select from {s}.rollouts where name = _rollout and round = _round and _id in (stop_id, good_id));
end $$;

create function {s}.restart_rollout(_rollout text) returns boolean language plpgsql as $$
begin
  update {s}.rollouts set round = round + 1, started_at = {s}.now_ms(), counts = ${noCounts}, max_drop = null, alpha = null,
    stopped_at = null, stopped_by = null, stop_id = null, good_at = null, good_id = null where name = _rollout;
  return found;
end $$;
`
