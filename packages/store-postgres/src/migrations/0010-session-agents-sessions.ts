/** `keep_turn` with the session's agent, and the function that moves a session to another agent. */
export const sessionAgentFunctions = `
-- One function for the run that goes on and the one that has ended: both hold the session's row while they check and write.
create function {s}.keep_turn(
  _tenant text, _owner text, _session_agent text, _session text, _token bigint, _version integer, _ended boolean, _release boolean,
  _turn_id text, _idempotency_key text, _status text, _started_at double precision, _ended_at double precision,
  _usage text, _start integer, _count integer, _digests text[], _messages bytea, _rest bytea, _info bytea,
  _records text[], _bodies bytea[],
  _calls text[], _call_turns text[], _call_names text[], _call_expiries double precision[], _call_tokens text[],
  out outcome_ text, out version_ integer, out length_ integer
) language plpgsql as $$
declare
  held {s}.sessions%rowtype;
  known text;
  is_live boolean;
begin
  select * into held from {s}.sessions where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session for update;
  is_live := found and held.token = _token and held.held_until > {s}.now_ms();
  version_ := held.version;
  length_ := held.length;
  select digest into known from {s}.turns
    where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and seq >= 0
    and hashtextextended(turn_id, 0) = hashtextextended(_turn_id, 0) and turn_id = _turn_id;
  if _ended and known = any (_digests) then
    if _release and held.token = _token then
      update {s}.sessions set held_until = 0 where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session;
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

  delete from {s}.turns where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and seq = -1;
  insert into {s}.turns values (
    _tenant, _owner, _session, case when _ended then _version else -1 end,
    _turn_id, _idempotency_key, _status, _started_at, _ended_at, _usage, _start, _count, _digests[1],
    _messages, _rest, _info, _session_agent, _session_agent
  );
  if not _ended then
    update {s}.sessions set open_turn = _turn_id, status = coalesce(status, 'running'), updated_at = {s}.now_ms()
      where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session;
    return;
  end if;
  update {s}.sessions set
    version = _version + 1, length = _start + _count, status = _status, open_turn = null, updated_at = {s}.now_ms(),
    held_until = case when _release then 0 else held_until end
    where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session;
  delete from {s}.waiting
    where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and call_id <> all (_calls);
  if cardinality(_calls) > 0 then
    update {s}.waiting w set turn_id = c.turn, name = c.name, expires_at = c.expires, token = c.token
      from unnest(_calls, _call_turns, _call_names, _call_expiries, _call_tokens) as c (id, turn, name, expires, token)
      where w.tenant = _tenant and w.owner = _owner and w.agent = _session_agent and w.session = _session and w.call_id = c.id;
    insert into {s}.waiting (tenant, owner, agent, session, call_id, turn_id, name, expires_at, token)
      select _tenant, _owner, _session_agent, _session, c.id, c.turn, c.name, c.expires, c.token
      from unnest(_calls, _call_turns, _call_names, _call_expiries, _call_tokens) as c (id, turn, name, expires, token)
      where not exists (
        select from {s}.waiting w
        where w.tenant = _tenant and w.owner = _owner and w.agent = _session_agent and w.session = _session and w.call_id = c.id
      );
  end if;
  if cardinality(_records) > 0 then
    insert into {s}.outbox (id, tenant, turn_id, added_at, body)
      select r.id, _tenant, _turn_id, {s}.now_ms(), r.body from unnest(_records, _bodies) as r (id, body);
  end if;
end $$;

-- Everything that is kept beside a session moves with it. Its events are dropped: they are sealed under the old name, and no reader
-- would look for them there.
create function {s}.move_session(_tenant text, _owner text, _from text, _session_agent text, _session text)
returns void language plpgsql as $$
begin
  delete from {s}.sessions where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session;
  update {s}.sessions set agent = _session_agent
    where tenant = _tenant and owner = _owner and agent = _from and id = _session;
  delete from {s}.vault where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session;
  update {s}.vault set agent = _session_agent
    where tenant = _tenant and owner = _owner and agent = _from and session = _session;
  update {s}.runs set session_agent = _session_agent
    where tenant = _tenant and owner = _owner and session_agent = _from and session = _session;
  delete from {s}.event_runs where tenant = _tenant and owner = _owner and agent = _from and session = _session;
end $$;

create function {s}.adopt_session(
  _tenant text, _owner text, _session_agent text, _session text, _names text[], _token bigint,
  out outcome_ text, out held_until_ double precision
) language plpgsql as $$
declare
  there {s}.sessions%rowtype;
  _from text;
begin
  outcome_ := 'none';
  select * into there from {s}.sessions
    where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session for update;
  if found and (there.version > 0 or there.open_turn is not null or there.held_until > {s}.now_ms()) then return; end if;
  foreach _from in array _names loop
    select * into there from {s}.sessions
      where tenant = _tenant and owner = _owner and agent = _from and id = _session for update;
    continue when not found;
    continue when there.version = 0 and there.open_turn is null and there.token is distinct from _token;
    if there.held_until > {s}.now_ms() and there.token is distinct from _token then
      outcome_ := 'held';
      held_until_ := there.held_until;
      return;
    end if;
    perform {s}.move_session(_tenant, _owner, _from, _session_agent, _session);
    outcome_ := 'moved';
    return;
  end loop;
end $$;

-- A session of an earlier version, whose agent was read from its last turn.
create function {s}.claim_session(_tenant text, _owner text, _session_agent text, _session text)
returns void language plpgsql as $$
begin
  perform from {s}.sessions where tenant = _tenant and owner = _owner and agent = '' and id = _session for update;
  if not found then return; end if;
  perform from {s}.sessions where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session;
  if found then return; end if;
  perform {s}.move_session(_tenant, _owner, '', _session_agent, _session);
end $$;
`
