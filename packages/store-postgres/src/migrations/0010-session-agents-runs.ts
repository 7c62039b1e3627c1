/** A run with this many attempts and no new step is only started alone, because it may be what crashes its process. */
const maxSharedAttempts = 3

const sessionMatches = 'tenant = _tenant and owner = _owner and agent = _session_agent and id = _session'
const sessionJoin = 's.tenant = r.tenant and s.owner = r.owner and s.agent = r.session_agent and s.id = r.session'

/** The functions of durable runs, with the session's agent in the key. `agent` is the agent that executes the run. */
export const sessionAgentRuns = `
create function {s}.take_session(
  _tenant text, _owner text, _session_agent text, _session text, _ms double precision, _run text,
  out token_ bigint, out version_ integer, out open_ boolean, out held_until_ double precision
) language plpgsql as $$
begin
  loop
    update {s}.sessions set token = nextval('{s}.tokens'), held_until = {s}.now_ms() + _ms, run = _run
      where ${sessionMatches} and held_until <= {s}.now_ms() and (run is null or run = _run)
      returning token, version, open_turn is not null into token_, version_, open_;
    if found then return; end if;
    -- What belongs to a run is held until one takes that over.
    select greatest(held_until, {s}.now_ms() + case when run is distinct from _run and run is not null then _ms else 0 end)
      into held_until_ from {s}.sessions
      where ${sessionMatches} and (held_until > {s}.now_ms() or run is distinct from _run and run is not null);
    if found then return; end if;
    insert into {s}.sessions (tenant, owner, agent, id) values (_tenant, _owner, _session_agent, _session) on conflict do nothing;
  end loop;
end $$;

create function {s}.take_lease(
  _tenant text, _owner text, _session_agent text, _session text, _ms double precision,
  out token_ bigint, out version_ integer, out open_ boolean, out held_until_ double precision
) language sql as $$ select * from {s}.take_session(_tenant, _owner, _session_agent, _session, _ms, null) $$;

-- Of a turn that was appended: the durable run that it is has ended, and its steps are not needed any more.
create function {s}.end_run(_tenant text, _owner text, _session_agent text, _session text, _run text, _status text, _code text)
returns void language plpgsql as $$
begin
  update {s}.sessions set run = null where ${sessionMatches} and run = _run;
  if not found then return; end if;
  update {s}.runs set status = _status, code = _code, updated_at = {s}.now_ms(),
    task = case when _status in ('failed', 'suspended') then task end
    where tenant = _tenant and run = _run;
  delete from {s}.steps where tenant = _tenant and run = _run;
end $$;

create function {s}.add_run(
  _tenant text, _owner text, _session_agent text, _session text, _run text, _agent text, _version text, _run_at double precision,
  _key text, _asked text[], _decides text[], _task bytea, _ms double precision,
  out outcome_ text, out n_ bigint, out absent_ text[], out token_ bigint, out version_ integer, out open_ boolean
) language plpgsql as $$
declare
  known {s}.runs%rowtype;
begin
  loop
    perform from {s}.sessions where ${sessionMatches} for update;
    exit when found;
    insert into {s}.sessions (tenant, owner, agent, id) values (_tenant, _owner, _session_agent, _session) on conflict do nothing;
  end loop;
  select * into known from {s}.runs where tenant = _tenant and run = _run;
  if found then
    -- Sent once more: what was given then is given again.
    outcome_ := 'added';
    n_ := known.n;
    select token, version, open_turn is not null into token_, version_, open_ from {s}.sessions
      where ${sessionMatches} and run = _run and token = known.token and held_until > {s}.now_ms();
    return;
  end if;
  select * into known from {s}.runs
    where tenant = _tenant and owner = _owner and session_agent = _session_agent and session = _session
    and hashtextextended(idempotency_key, 0) = hashtextextended(_key, 0) and idempotency_key = _key;
  if found then
    outcome_ := case when known.asked = any (_asked) then 'known' else 'reused' end;
    n_ := known.n;
    return;
  end if;
  select array_agg(c) into absent_ from unnest(_decides) c where not exists (
    select from {s}.waiting where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and call_id = c
  );
  if absent_ is not null then
    outcome_ := 'absent';
    return;
  end if;
  delete from {s}.waiting
    where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and call_id = any (_decides);
  insert into {s}.runs (tenant, owner, session_agent, session, run, agent, version, status, run_at, idempotency_key, asked, updated_at,
    task, sealed_as)
    values (_tenant, _owner, _session_agent, _session, _run, _agent, _version, 'queued', coalesce(_run_at, {s}.now_ms()), _key, _asked[1],
      {s}.now_ms(), _task, _session_agent)
    returning n into n_;
  outcome_ := 'added';
  if _ms is null or _run_at > {s}.now_ms() then return; end if;
  select t.token_, t.version_, t.open_ into token_, version_, open_
    from {s}.take_session(_tenant, _owner, _session_agent, _session, _ms, _run) t;
  if token_ is not null then
    update {s}.runs set status = 'running', attempts = 1, token = token_ where n = n_;
  end if;
end $$;

-- Takes one that was found to be due; nothing is given where its session is not free any more.
create function {s}.take_run(
  _n bigint, _ms double precision, _attempts integer,
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
    status = case when status = 'queued' then 'running' else status end, attempts = coalesce(_attempts, attempts)
    where n = _n;
end $$;

create function {s}.claim_runs(
  _agents text[], _versions text[], _limit integer, _ms double precision, _alone boolean
) returns table (n_ bigint, token_ bigint, version_ integer, open_ boolean) language plpgsql as $$
declare
  due record;
  _now double precision := {s}.now_ms();
  _attempts integer;
  _taken integer := 0;
begin
  for due in
    select r.n, r.status in ('queued', 'running') as live, r.status, r.attempts, p.progressed
    from {s}.runs r join {s}.sessions s on ${sessionJoin},
    lateral (
      select exists (select from {s}.steps p where p.tenant = r.tenant and p.run = r.run and p.token = r.token) as progressed
    ) p
    where not r.told and r.run_at <= _now and (r.agent, r.version) in (select * from unnest(_agents, _versions))
    and (r.status in ('queued', 'running') or r.updated_at <= _now - _ms)
    and (s.run is null or s.run = r.run) and s.held_until <= _now
    and (_alone or r.status <> 'running' or r.attempts + 1 < ${maxSharedAttempts} or p.progressed)
    order by r.n limit _limit for update of r, s skip locked
  loop
    _attempts := case when not due.live then null when due.status = 'queued' or due.progressed then 1 else due.attempts + 1 end;
    continue when _attempts >= ${maxSharedAttempts} and _taken > 0;
    select * into n_, token_, version_, open_ from {s}.take_run(due.n, _ms, _attempts);
    continue when n_ is null;
    _taken := _taken + 1;
    return next;
    exit when _attempts >= ${maxSharedAttempts};
  end loop;
end $$;

create function {s}.claim_orphans(
  _agents text[], _versions text[], _limit integer, _lapsed double precision, _ms double precision
) returns table (n_ bigint, token_ bigint, version_ integer, open_ boolean) language plpgsql as $$
declare
  due record;
  _before double precision := {s}.now_ms() - _lapsed;
begin
  for due in
    select r.n from {s}.runs r join {s}.sessions s on ${sessionJoin}
    where not r.told and r.status in ('queued', 'running') and r.updated_at <= _before and r.run_at <= _before
    and r.agent = any (_agents) and (r.agent, r.version) not in (select * from unnest(_agents, _versions))
    and (s.run is null or s.run = r.run) and s.held_until <= _before
    order by r.n limit _limit for update of r, s skip locked
  loop
    select * into n_, token_, version_, open_ from {s}.take_run(due.n, _ms, null);
    if n_ is not null then return next; end if;
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
      select from {s}.runs where tenant = _tenant and run = _run and stood is not null and token = _token
    );
  end if;
  update {s}.runs set status = _status, code = _code, reason = _reason, stood = _version, updated_at = {s}.now_ms()
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
    where tenant = _tenant and owner = r.owner and agent = r.session_agent and id = r.session and version = r.stood for update;
  if not found then return false; end if;
  update {s}.runs
    set status = 'queued', attempts = 0, token = 0, stood = null, told = false, code = null, reason = null, stop = null,
    run_at = {s}.now_ms(), updated_at = {s}.now_ms()
    where n = r.n and status = 'failed' and stood is not null and not exists (
      select from {s}.runs l where l.tenant = r.tenant and l.owner = r.owner and l.session_agent = r.session_agent and l.session = r.session and l.n > r.n
    );
  return found;
end $$;

create function {s}.forget_runs(_ms double precision) returns integer language plpgsql as $$
declare
  _gone integer;
begin
  with gone as (
    delete from {s}.runs where n in (
      select r.n from {s}.runs r
      where r.status not in ('queued', 'running') and r.updated_at < (select {s}.now_ms()) - _ms and not exists (
        select from {s}.waiting w
        where w.tenant = r.tenant and w.owner = r.owner and w.agent = r.session_agent and w.session = r.session and w.turn_id = r.run
      ) order by r.updated_at limit 1000 for update skip locked
    ) returning 1
  ) select count(*) into _gone from gone;
  return _gone;
end $$;
create function {s}.add_free_run(
  _tenant text, _owner text, _session_agent text, _session text, _run text, _agent text, _version text, _run_at double precision,
  _key text, _asked text[], _decides text[], _task bytea, _ms double precision, _unless_busy double precision,
  out outcome_ text, out n_ bigint, out absent_ text[], out token_ bigint, out version_ integer, out open_ boolean,
  out held_until_ double precision
) language plpgsql as $$
begin
  if _unless_busy is not null then
    -- Nobody takes it until this has ended; of one that is not there yet the row is made by who comes first.
    insert into {s}.sessions (tenant, owner, agent, id) values (_tenant, _owner, _session_agent, _session) on conflict do nothing;
    perform from {s}.sessions where ${sessionMatches} for update;
    select greatest(s.held_until, {s}.now_ms() + case when s.run is null then 0 else _unless_busy end)
      into held_until_ from {s}.sessions s
      where s.tenant = _tenant and s.owner = _owner and s.agent = _session_agent and s.id = _session
      and (s.held_until > {s}.now_ms() or s.run is not null)
      and not exists (select from {s}.runs r where r.tenant = _tenant and r.run = _run)
      and not exists (
        select from {s}.runs r where r.tenant = _tenant and r.owner = _owner and r.session_agent = _session_agent and r.session = _session
        and hashtextextended(r.idempotency_key, 0) = hashtextextended(_key, 0) and r.idempotency_key = _key
      );
    if found then
      outcome_ := 'busy';
      return;
    end if;
  end if;
  select a.outcome_, a.n_, a.absent_, a.token_, a.version_, a.open_
    into outcome_, n_, absent_, token_, version_, open_
    from {s}.add_run(_tenant, _owner, _session_agent, _session, _run, _agent, _version, _run_at, _key, _asked, _decides, _task, _ms) a;
end $$;
`
