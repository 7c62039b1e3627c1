import { priorityStep } from '@allium/store-sql'
import { sessionJoin, sessionMatches, sessionOfRun } from './matches.ts'

/** Claims, steps and ends of durable runs. A session's row is locked before those of its runs, and queries for runs skip locked rows. */
export const runs = `
-- Claims a run that was found to be due. Returns nulls if its session is not free any more.
create function {s}.take_run(
  _n bigint, _ms double precision, _attempts integer, _worker text,
  out n_ bigint, out token_ bigint, out version_ integer, out open_ boolean
) language plpgsql as $$
declare
  r {s}.runs%rowtype;
begin
  select * into r from {s}.runs where n = _n;
  select t.token_, t.version_, t.open_ into token_, version_, open_
    from {s}.take_session(r.tenant, r.owner, r.session_agent, r.session, _ms, case when r.status in ('queued', 'running') then r.run end) t;
  if token_ is null then return; end if;
  n_ := _n;
  update {s}.runs set token = token_, updated_at = {s}.now_ms(),
    worker = case when status in ('queued', 'running') then _worker else worker end,
    status = case when status = 'queued' then 'running' else status end, attempts = coalesce(_attempts, attempts)
    where n = _n;
end $$;

create function {s}.claim_orphans(
  _agents text[], _versions text[], _limit integer, _lapsed double precision, _ms double precision
) returns table (n_ bigint, token_ bigint, version_ integer, open_ boolean) language plpgsql as $$
declare
  due record;
  _name text;
  _hash bigint;
  _before double precision := {s}.now_ms() - _lapsed;
begin
  for _name in select distinct a from unnest(_agents) a loop
    _hash := null;
    loop
      -- Versions are looked up in the index, so that the number of their runs does not matter.
      if _hash is null then
        select hashtextextended(version, 0) into _hash from {s}.runs where agent = _name and not reported
          order by hashtextextended(version, 0) limit 1;
      else
        select hashtextextended(version, 0) into _hash from {s}.runs
          where agent = _name and not reported and hashtextextended(version, 0) > _hash order by hashtextextended(version, 0) limit 1;
      end if;
      exit when not found;
      continue when (_name, _hash) in (select a, hashtextextended(v, 0) from unnest(_agents, _versions) o (a, v));
      for due in
        select r.n from {s}.runs r join {s}.sessions s on ${sessionJoin}
        where r.agent = _name and hashtextextended(r.version, 0) = _hash
        and not r.reported and r.status in ('queued', 'running') and r.updated_at <= _before and r.run_at <= _before
        and (s.run is null or s.run = r.run) and s.held_until <= _before
        order by r.n limit _limit for update of r, s skip locked
      loop
        select * into n_, token_, version_, open_ from {s}.take_run(due.n, _ms, null, null);
        if n_ is not null then return next; end if;
      end loop;
    end loop;
  end loop;
end $$;

create function {s}.record_step(
  _tenant text, _owner text, _session_agent text, _session text, _token bigint, _run text, _id text, _body bytea
) returns boolean language plpgsql as $$
begin
  perform from {s}.sessions
    where ${sessionMatches} and token = _token and run = _run and held_until > {s}.now_ms() for share;
  if not found then return false; end if;
  insert into {s}.steps values (_tenant, _run, _id, _token, _body, _session_agent) on conflict do nothing;
  return true;
end $$;

-- Ends a run, whichever process executes it: the lease of that process ends, too.
create function {s}.force_stop_run(_tenant text, _run text, _code text, _reason text) returns boolean language plpgsql as $$
declare
  r {s}.runs%rowtype;
begin
  select * into r from {s}.runs where tenant = _tenant and run = _run;
  if not found then return false; end if;
  perform from {s}.sessions
    where ${sessionOfRun} for update;
  update {s}.runs set status = 'aborted', code = _code, reason = _reason, updated_at = {s}.now_ms()
    where n = r.n and status in ('queued', 'running');
  if not found then return false; end if;
  update {s}.sessions set run = null, held_until = 0, token = -token
    where ${sessionOfRun} and run = _run;
  return true;
end $$;

create function {s}.give_up_run(
  _tenant text, _owner text, _session_agent text, _session text, _token bigint, _run text, _status text, _code text, _reason text
) returns boolean language plpgsql as $$
declare
  _version integer;
begin
  update {s}.sessions set run = null, held_until = 0, token = -token
    where ${sessionMatches} and token = _token and run = _run and held_until > {s}.now_ms()
    returning version into _version;
  if not found then
    return exists (
      select from {s}.runs where tenant = _tenant and run = _run and session_version is not null and token = _token
    );
  end if;
  update {s}.runs set status = _status, code = _code, reason = _reason, session_version = _version, updated_at = {s}.now_ms()
    where tenant = _tenant and run = _run;
  return true;
end $$;

create function {s}.retry_run(_tenant text, _run text) returns boolean language plpgsql as $$
declare
  r {s}.runs%rowtype;
begin
  select * into r from {s}.runs where tenant = _tenant and run = _run;
  if not found then return false; end if;
  perform from {s}.sessions
    where ${sessionOfRun} and version = r.session_version for update;
  if not found then return false; end if;
  update {s}.runs
    set status = 'queued', attempts = 0, token = 0, session_version = null, reported = false, code = null, reason = null, stop = null,
    run_at = {s}.now_ms(), updated_at = {s}.now_ms(), rank = {s}.now_ms() + priority * ${priorityStep}
    where n = r.n and status = 'failed' and session_version is not null and not exists (
      select from {s}.runs l where l.tenant = r.tenant and l.owner = r.owner and l.session_agent = r.session_agent and l.session = r.session and l.n > r.n
    );
  return found;
end $$;

-- Moves a run to another version of its agent, unless a process is executing it.
create function {s}.migrate_run(_tenant text, _run text, _from text, _to text) returns boolean language plpgsql as $$
declare
  r {s}.runs%rowtype;
begin
  select * into r from {s}.runs where tenant = _tenant and run = _run and version = _from;
  if not found then return false; end if;
  -- A process that claims the run waits for this lock, and then sees the new version.
  perform from {s}.sessions
    where ${sessionOfRun} for update;
  perform from {s}.sessions
    where ${sessionOfRun}
    and run = _run and held_until > {s}.now_ms();
  if found then return false; end if;
  if r.status = 'failed' and not {s}.retry_run(_tenant, _run) then return false; end if;
  update {s}.runs set version = _to, attempts = 0, updated_at = {s}.now_ms()
    where n = r.n and version = _from and status in ('queued', 'running');
  return found;
end $$;

create function {s}.expire_runs(_statuses text[], _ms double precision[]) returns table (status text, gone integer) language sql as $$
  with due as (
    select r.n from unnest(_statuses, _ms) e (status, ms), lateral (
      select o.n from {s}.runs o
      where o.status = e.status and o.updated_at < (select {s}.now_ms()) - e.ms and not exists (
        select from {s}.pending_calls w
        where w.tenant = o.tenant and w.owner = o.owner and w.agent = o.session_agent and w.session = o.session and w.turn_id = o.run
      ) order by o.updated_at limit 1000 for update skip locked
    ) r
  ), gone as (
    delete from {s}.runs g where g.n in (select n from due) returning g.status
  )
  select g.status, count(*)::integer from gone g group by g.status
$$;
`
