import { priorityStep } from '@allium/store-sql'
import { freeSession, laneMatches, sessionJoin } from './matches.ts'

/** A run with this many attempts and no new step is only started alone, because it may be what crashes its process. */
const maxSharedAttempts = 3
/** Most runs that become due in one claim. */
const maxDue = 1000
/** Tenants compared in addition to the number of runs to claim. */
const extraTenants = 50

const firstTenant = (condition: string) =>
  `(select r.tenant from {s}.runs r where ${laneMatches} and ${condition} order by r.tenant limit 1)`
const tenantsFrom = (first: string, next: string) =>
  `select ring.tenant from (with recursive t as (
        ${firstTenant(first)} union all select ${firstTenant(`r.tenant > t.tenant and ${next}`)} from t where t.tenant is not null
      ) select t.tenant from t where t.tenant is not null) ring`

/** Claims: lost runs first, then waiting runs in their order. */
export const queueClaims = `
-- Running runs without a lease, ended runs whose end was not reported, and stopped runs, which only have to end. No limit applies to them: the
-- former have their place in the queue already, and the others execute nothing.
create function {s}.claim_lost(
  _agents text[], _versions text[], _limit integer, _ms double precision, _alone boolean, _worker text
) returns table (n_ bigint, token_ bigint, version_ integer, open_ boolean, attempts_ integer) language plpgsql as $$
declare
  due record;
  _now double precision := {s}.now_ms();
  _taken integer := 0;
begin
  for due in
    select r.n, r.status, r.attempts, p.progressed
    from {s}.runs r join {s}.sessions s on ${sessionJoin},
    lateral (
      select exists (select from {s}.steps p where p.tenant = r.tenant and p.run = r.run and p.token = r.token
        and p.id not like '%:takeover/%') as progressed
    ) p
    where r.n in (
      select n from {s}.runs where agent = any (_agents) and status = 'running'
      union all
      select n from {s}.runs where agent = any (_agents) and status = 'queued' and stop is not null
      union all
      select n from {s}.runs
        where agent = any (_agents) and not reported and status not in ('queued', 'running') and updated_at <= _now - _ms
    )
    and (r.agent, r.version) in (select * from unnest(_agents, _versions))
    and (s.run is null or s.run = r.run) and s.held_until <= _now
    and (_alone or r.status <> 'running' or r.attempts + 1 < ${maxSharedAttempts} or p.progressed)
    order by r.n limit _limit for update of r, s skip locked
  loop
    attempts_ := case
      when due.status = 'queued' then 1 when due.status <> 'running' then null when due.progressed then 1 else due.attempts + 1
    end;
    continue when attempts_ >= ${maxSharedAttempts} and _taken > 0;
    select t.n_, t.token_, t.version_, t.open_ into n_, token_, version_, open_ from {s}.take_run(due.n, _ms, attempts_, _worker) t;
    continue when n_ is null;
    _taken := _taken + 1;
    return next;
    exit when attempts_ >= ${maxSharedAttempts};
  end loop;
end $$;

-- Returns the tenant's next run after another one, and when its turn is.
create function {s}.next_waiting(
  _agent text, _version text, _queue text, _tenant text, _after_rank double precision, _after bigint,
  out n_ bigint, out rank_ double precision, out turn_ double precision
) language plpgsql as $$
declare
  _now double precision := {s}.now_ms();
  _priority integer;
  _last double precision;
begin
  select r.n, r.rank, r.priority into n_, rank_, _priority from {s}.runs r join ${freeSession}
    where ${laneMatches} and r.tenant = _tenant and (r.rank, r.n) > (_after_rank, _after) order by r.rank, r.n limit 1;
  if n_ is null then return; end if;
  select least(at, _now) into _last from {s}.queue_turns where queue = {s}.queue_id(_agent, _queue) and tenant = _tenant;
  turn_ := greatest(rank_, _last + _priority * ${priorityStep});
end $$;

create function {s}.claim_waiting(
  _agents text[], _versions text[], _queues jsonb, _limit integer, _ms double precision, _worker text
) returns table (n_ bigint, token_ bigint, version_ integer, open_ boolean) language plpgsql as $$
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
  perform {s}.lock_queues(_names, array(select q ->> 'name' from jsonb_array_elements(_queues) q));
  update {s}.runs set rank = run_at + priority * ${priorityStep} where n in (
    select n from {s}.runs where agent = any (_names) and status = 'queued' and rank is null and run_at <= (select {s}.now_ms())
    order by run_at limit ${maxDue} for update skip locked
  );
  for _lane in select * from {s}.queue_lanes(_agents, _versions, _queues) loop
    _agent := _lane.agent_;
    _version := _lane.version_;
    _queue := _lane.queue_;
    if not _room ? _queue then
      _room := _room || jsonb_build_object(_queue,
        least({s}.queue_room(_names, _queue, _lane.limits_, null), (_lane.limits_ ->> 'places')::integer));
    end if;
    continue when (_room ->> _queue)::integer <= 0;
    select t.tenant into _last from {s}.queue_turns t where t.queue = {s}.queue_id(_agent, _queue) order by t.at desc limit 1;
    _found := 0;
    -- A bounded number of tenants, in a circle that begins after the last tenant that had its turn.
    for _tenant in
      ${tenantsFrom('r.tenant > _last', 'true')}
      union all
      ${tenantsFrom('(_last is null or r.tenant <= _last)', '(_last is null or r.tenant <= _last)')}
    loop
      continue when {s}.queue_room(_names, _queue, _lane.limits_, _tenant) <= 0;
      select * into _n, _rank, _turn from {s}.next_waiting(_agent, _version, _queue, _tenant, '-infinity', 0);
      continue when _n is null;
      _lanes := _lanes || _lane.lane_;
      _tenants := _tenants || _tenant;
      _ns := _ns || _n;
      _ranks := _ranks || _rank;
      _turns := _turns || _turn;
      _found := _found + 1;
      exit when _found >= _limit + ${extraTenants};
    end loop;
  end loop;

  while _limit > 0 loop
    select t.i into _i from unnest(_turns) with ordinality t (turn, i) where t.turn is not null order by t.turn, t.i limit 1;
    exit when _i is null;
    _tenant := _tenants[_i];
    select * into _lane from {s}.queue_lanes(_agents, _versions, _queues) where lane_ = _lanes[_i];
    _queue := _lane.queue_;
    _n := null;
    _rank := null;
    _turn := null;
    _now := {s}.now_ms();
    if (_room ->> _queue)::integer > 0 and {s}.queue_room(_names, _queue, _lane.limits_, _tenant) > 0 then
      perform from {s}.runs r join ${freeSession} where r.n = _ns[_i] and r.status = 'queued' for update of r, s skip locked;
      if found then
        select t.n_, t.token_, t.version_, t.open_ into n_, token_, version_, open_ from {s}.take_run(_ns[_i], _ms, 1, _worker) t;
        if n_ is not null then
          return next;
          _limit := _limit - 1;
          _room := jsonb_set(_room, array[_queue], to_jsonb((_room ->> _queue)::integer - 1));
          perform {s}.count_start(_lane.agent_, _queue, _tenant, _lane.limits_);
        end if;
      end if;
      select * into _n, _rank, _turn
        from {s}.next_waiting(_lane.agent_, _lane.version_, _queue, _tenant, _ranks[_i], _ns[_i]);
    end if;
    _ns[_i] := _n;
    _ranks[_i] := _rank;
    _turns[_i] := _turn;
  end loop;
end $$;

create function {s}.queue_lanes(_agents text[], _versions text[], _queues jsonb)
returns table (lane_ integer, agent_ text, version_ text, queue_ text, limits_ jsonb) language sql immutable as $$
  select (row_number() over ())::integer, a.agent, a.version, q ->> 'name', q
  from jsonb_array_elements(_queues) q, unnest(_agents, _versions) a (agent, version)
$$;

create function {s}.claim_runs(
  _agents text[], _versions text[], _limit integer, _ms double precision, _alone boolean, _queues jsonb, _waiting_only boolean,
  _worker text
) returns table (n_ bigint, token_ bigint, version_ integer, open_ boolean) language plpgsql as $$
declare
  _lost record;
begin
  if not _waiting_only then
    for _lost in select * from {s}.claim_lost(_agents, _versions, _limit, _ms, _alone, _worker) loop
      n_ := _lost.n_;
      token_ := _lost.token_;
      version_ := _lost.version_;
      open_ := _lost.open_;
      return next;
      if _lost.attempts_ >= ${maxSharedAttempts} then return; end if;
      _limit := _limit - 1;
    end loop;
  end if;
  return query select * from {s}.claim_waiting(_agents, _versions, _queues, _limit, _ms, _worker);
end $$;
`
