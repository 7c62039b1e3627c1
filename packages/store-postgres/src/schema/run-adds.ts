import { sessionMatches } from './matches.ts'

/** Adds durable runs, optionally only if their session is free. A session's row is locked before those of its runs. */
export const runAdds = `
create function {s}.add_run(
  _tenant text, _owner text, _session_agent text, _session text, _run text, _agent text, _version text, _run_at double precision,
  _key text, _fingerprints text[], _decides text[], _task bytea, _ms double precision,
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
    outcome_ := case when known.fingerprint = any (_fingerprints) then 'known' else 'reused' end;
    n_ := known.n;
    return;
  end if;
  select array_agg(c) into absent_ from unnest(_decides) c where not exists (
    select from {s}.pending_calls where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and call_id = c
  );
  if absent_ is not null then
    outcome_ := 'absent';
    return;
  end if;
  delete from {s}.pending_calls
    where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and call_id = any (_decides);
  insert into {s}.runs (tenant, owner, session_agent, session, run, agent, version, status, run_at, idempotency_key, fingerprint, updated_at,
    task, sealed_as)
    values (_tenant, _owner, _session_agent, _session, _run, _agent, _version, 'queued', coalesce(_run_at, {s}.now_ms()), _key, _fingerprints[1],
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

create function {s}.add_free_run(
  _tenant text, _owner text, _session_agent text, _session text, _run text, _agent text, _version text, _run_at double precision,
  _key text, _fingerprints text[], _decides text[], _task bytea, _ms double precision, _unless_busy double precision,
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
    from {s}.add_run(_tenant, _owner, _session_agent, _session, _run, _agent, _version, _run_at, _key, _fingerprints, _decides, _task, _ms) a;
end $$;
`
