import { ofSession, sessionMatches } from './matches.ts'

/** `keep_turn` returns refusals instead of raising them, so that the server's log has no errors for them. */
export const turns = `
-- Stores an open or an ended turn, or what a checkpoint adds after so many messages of the one before. Locks the session's row while it
-- checks and writes.
create function {s}.keep_turn(
  _tenant text, _owner text, _session_agent text, _session text, _token bigint, _version integer, _ended boolean, _release boolean,
  _turn_id text, _idempotency_key text, _status text, _started_at double precision, _ended_at double precision,
  _usage text, _start integer, _count integer, _digests text[], _messages bytea, _rest bytea, _info bytea,
  _records text[], _bodies bytea[],
  _calls text[], _call_turns text[], _call_names text[], _call_expiries double precision[], _call_tokens text[],
  _after integer, _passages jsonb,
  out outcome_ text, out version_ integer, out length_ integer
) language plpgsql as $$
declare
  held {s}.sessions%rowtype;
  known text;
  is_live boolean;
begin
  select * into held from {s}.sessions where ${sessionMatches} for update;
  is_live := found and held.token = _token and held.held_until > {s}.now_ms();
  version_ := held.version;
  length_ := held.length;
  select digest into known from {s}.turns
    where ${ofSession} and seq >= 0
    and hashtextextended(turn_id, 0) = hashtextextended(_turn_id, 0) and turn_id = _turn_id;
  if _ended and known = any (_digests) then
    if _release and held.token = _token then
      update {s}.sessions set held_until = 0 where ${sessionMatches};
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
    insert into {s}.turn_parts
      select _tenant, _owner, _session_agent, _session, coalesce(p.n + 1, 0), _count, _messages
      from {s}.turns t left join lateral (
        select n, count from {s}.turn_parts where ${ofSession} order by n desc limit 1
      ) p on true
      where ${ofSession} and seq = -1 and turn_id = _turn_id and sealed_as = _session_agent
      and start = _start and coalesce(p.count, t.count) >= _after;
    if not found then
      outcome_ := 'missing';
      return;
    end if;
  else
    delete from {s}.turns where ${ofSession} and seq = -1;
    insert into {s}.turns values (
      _tenant, _owner, _session_agent, _session, case when _ended then _version else -1 end,
      _turn_id, _idempotency_key, _status, _started_at, _ended_at, _usage, _start, _count, _digests[1],
      _messages, _rest, _info, _session_agent,
      _ended and exists (select from {s}.turns where ${ofSession} and seq = _version - 1 and start >= _start)
    );
  end if;
  if not _ended then
    update {s}.sessions set open_turn = _turn_id, status = coalesce(status, 'running'), updated_at = {s}.now_ms()
      where ${sessionMatches};
    return;
  end if;
  update {s}.sessions set
    version = _version + 1, length = _start + _count, status = _status, open_turn = null, updated_at = {s}.now_ms(),
    held_until = case when _release then 0 else held_until end
    where ${sessionMatches};
  perform {s}.replace_passages(_tenant, _owner, _session_agent, _session, _version, _start, _passages);
  delete from {s}.pending_calls
    where ${ofSession} and call_id <> all (_calls);
  if cardinality(_calls) > 0 then
    update {s}.pending_calls w set turn_id = c.turn, name = c.name, expires_at = c.expires, token = c.token
      from unnest(_calls, _call_turns, _call_names, _call_expiries, _call_tokens) as c (id, turn, name, expires, token)
      where w.tenant = _tenant and w.owner = _owner and w.agent = _session_agent and w.session = _session and w.call_id = c.id;
    insert into {s}.pending_calls (tenant, owner, agent, session, call_id, turn_id, name, expires_at, token)
      select _tenant, _owner, _session_agent, _session, c.id, c.turn, c.name, c.expires, c.token
      from unnest(_calls, _call_turns, _call_names, _call_expiries, _call_tokens) as c (id, turn, name, expires, token)
      where not exists (
        select from {s}.pending_calls w
        where w.tenant = _tenant and w.owner = _owner and w.agent = _session_agent and w.session = _session and w.call_id = c.id
      );
  end if;
  if cardinality(_records) > 0 then
    insert into {s}.outbox (id, tenant, owner, token, turn_id, added_at, body)
      select r.id, _tenant, _owner, _token, _turn_id, {s}.now_ms(), r.body from unnest(_records, _bodies) as r (id, body);
  end if;
end $$;
`
