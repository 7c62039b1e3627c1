import { ofSession, sessionMatches } from './matches.ts'

/** Leases of sessions. They return refusals instead of raising them, so that the server's log has no errors for them. */
export const leases = `
-- Tokens come from the sequence while the row is locked: a later lease has a higher one, also after a delete.
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
    -- A session that belongs to a run is held until a process takes that run over.
    select greatest(held_until, {s}.now_ms() + case when run is distinct from _run and run is not null then _ms else 0 end)
      into held_until_ from {s}.sessions
      where ${sessionMatches} and (held_until > {s}.now_ms() or run is distinct from _run and run is not null);
    if found then return; end if;
    insert into {s}.sessions (tenant, owner, agent, id) values (_tenant, _owner, _session_agent, _session) on conflict do nothing;
  end loop;
end $$;

-- Ends the durable run of an appended turn. Its steps are no longer needed.
create function {s}.end_run(
  _tenant text, _owner text, _session_agent text, _session text, _run text, _status text, _code text
) returns void language plpgsql as $$
begin
  update {s}.sessions set run = null
    where ${sessionMatches} and run = _run;
  if not found then return; end if;
  update {s}.runs set status = _status, code = coalesce(_code, case _status when 'failed' then 'run.failed' end), updated_at = {s}.now_ms(),
    task = case when _status in ('failed', 'suspended') then task end
    where tenant = _tenant and run = _run;
  delete from {s}.steps where tenant = _tenant and run = _run;
  delete from {s}.blob_holders where ${ofSession} and kind = 'step' and holder = _run;
end $$;
`
