const isSamePlan = 's.cron = excluded.cron and s.tz = excluded.tz'
const keeps = (column: string) =>
  `case when s.paused is not null then null when ${isSamePlan} then s.${column} else excluded.${column} end`
const keyMatches = 'tenant = _tenant and owner = _owner and id = _id'

/**
 * Schedules of durable runs. A schedule is claimed from `due_at` on, which is its next tick, or later while a process has it. Writers
 * hold the shared lock of erasures, as those of other data do.
 */
export const schedules = `
create table {s}.schedules (
  tenant text collate "C" not null,
  owner text collate "C" not null,
  id text collate "C" not null,
  agent text collate "C" not null,
  cron text not null,
  tz text not null,
  missed text not null,
  session text collate "C",
  request bytea not null,
  next_at double precision,
  due_at double precision,
  paused text,
  last_at double precision,
  last_run text collate "C",
  revision integer not null default 1,
  token bigint not null,
  primary key (tenant, owner, id)
);
create index schedules_due on {s}.schedules (due_at) where due_at is not null;

-- Locks the row. Returns no row if it was erased, even if the erasure has not deleted it yet.
create function {s}.current_schedule(_tenant text, _owner text, _id text) returns setof {s}.schedules language plpgsql as $$
declare
  e record;
begin
  perform {s}.writer_token(_tenant, _owner, null, null, null, null);
  select * into e from {s}.erased(_tenant, _owner, null, null);
  return query select * from {s}.schedules where ${keyMatches} and (e.token_ is null or token >= e.token_) for update;
end $$;

create function {s}.put_schedule(
  _tenant text, _owner text, _id text, _agent text, _cron text, _tz text, _missed text, _session text, _request bytea,
  _next_at double precision, _agents text[], _per_owner integer, out problem_ text, out agent_ text, out row_ {s}.schedules
) language plpgsql as $$
begin
  -- Puts of an owner run one after the other, so that they stay within the limit.
  perform pg_advisory_xact_lock(hashtextextended('{s}.schedules ' || to_json(array[_tenant, _owner])::text, 0));
  select agent into agent_ from {s}.current_schedule(_tenant, _owner, _id);
  if not found then
    delete from {s}.schedules where ${keyMatches};
    if (select count(*) from {s}.schedules where tenant = _tenant and owner = _owner) >= _per_owner then
      problem_ := 'full';
      return;
    end if;
  elsif not agent_ = any (_agents) then
    problem_ := 'agent';
    return;
  end if;
  insert into {s}.schedules as s (tenant, owner, id, agent, cron, tz, missed, session, request, next_at, due_at, token)
    values (_tenant, _owner, _id, _agent, _cron, _tz, _missed, _session, _request, _next_at, _next_at,
      {s}.writer_token(_tenant, _owner, null, null, null, null))
    on conflict (tenant, owner, id) do update set agent = excluded.agent, cron = excluded.cron, tz = excluded.tz,
      missed = excluded.missed, session = excluded.session, request = excluded.request, next_at = ${keeps('next_at')},
      due_at = ${keeps('due_at')}, revision = s.revision + 1, token = excluded.token
    returning * into row_;
end $$;

-- Returns false if the revision has changed, or fails the whole statement if it adds a run.
create function {s}.advance_schedule(
  _tenant text, _owner text, _id text, _revision integer, _next_at double precision, _paused text, _last_at double precision,
  _last_run text, _adds_run boolean
) returns boolean language plpgsql as $$
begin
  perform from {s}.current_schedule(_tenant, _owner, _id) where revision = _revision;
  if found then
    update {s}.schedules set next_at = _next_at, due_at = greatest(_next_at, case when _next_at is not null then {s}.now_ms() end),
      paused = _paused, last_at = _last_at, last_run = _last_run, revision = revision + 1
      where ${keyMatches};
  elsif _adds_run then
    raise exception 'The schedule has changed.' using errcode = 'AL002';
  end if;
  return found;
end $$;

-- Schedules whose last run is still active wait.
create function {s}.claim_schedules(_agents text[], _limit integer, _ms double precision)
returns table (row_ {s}.schedules, now_ double precision) language plpgsql as $$
declare
  _now double precision := {s}.now_ms();
begin
  return query with due as materialized (
    select s.tenant, s.owner, s.id from {s}.schedules s
    where s.due_at <= _now and s.agent = any (_agents) and not exists (
      select from {s}.runs r where r.tenant = s.tenant and r.run = s.last_run and r.status in ('queued', 'running')
    ) order by s.due_at limit _limit for update of s skip locked
  ) update {s}.schedules u set due_at = _now + _ms from due
    where u.tenant = due.tenant and u.owner = due.owner and u.id = due.id returning u, _now;
end $$;
`
