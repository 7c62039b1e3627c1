import { keptShapes, priorityStep } from '@allium/store-sql'
import { freeSession, laneMatches, ofSession, sessionMatches } from './matches.ts'

const ofRunSession = 'tenant = _tenant and owner = _owner and session_agent = _session_agent and session = _session'

/**
 * Adds durable runs to queues. A new run starts at once only if no other run of its queue could, and if the limits allow it. A session's row
 * is locked before those of its runs.
 */
export const runAdds = `
create function {s}.has_startable(_agent text, _version text, _queue text) returns boolean language plpgsql as $$
declare
  _now double precision := {s}.now_ms();
begin
  return exists (select from {s}.runs r join ${freeSession} where ${laneMatches});
end $$;

create function {s}.add_run(
  _tenant text, _owner text, _session_agent text, _session text, _run text, _agent text, _version text, _run_at double precision,
  _key text, _fingerprints text[], _decides text[], _task bytea, _ms double precision, _unless_busy double precision,
  _queue text, _priority integer, _limits jsonb, _names text[], _worker text,
  _shape text, _shape_body text, _step text, _step_body bytea,
  out outcome_ text, out n_ bigint, out absent_ text[], out token_ bigint, out version_ integer, out open_ boolean,
  out held_until_ double precision
) language plpgsql as $$
declare
  held {s}.sessions%rowtype;
  known {s}.runs%rowtype;
  _now double precision;
  _rank double precision;
begin
  -- An erasure waits for the run that is being added, and then finds it.
  perform {s}.writer_token(_tenant, _owner, null, null, null, null);
  perform {s}.forget_erased(_tenant, _owner, _session_agent, _session);
  loop
    select * into held from {s}.sessions where ${sessionMatches} for update;
    exit when found;
    insert into {s}.sessions (tenant, owner, agent, id) values (_tenant, _owner, _session_agent, _session) on conflict do nothing;
  end loop;
  _now := {s}.now_ms();
  select * into known from {s}.runs where tenant = _tenant and run = _run;
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
  select * into known from {s}.runs
    where ${ofRunSession} and hashtextextended(idempotency_key, 0) = hashtextextended(_key, 0) and idempotency_key = _key;
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
    where not exists (select from {s}.pending_calls where ${ofSession} and call_id = c);
  if absent_ is not null then
    outcome_ := 'absent';
    return;
  end if;
  delete from {s}.pending_calls where ${ofSession} and call_id = any (_decides);
  _rank := case when _run_at > _now then null else coalesce(_run_at, _now) + _priority * ${priorityStep} end;
  if _rank is not null and _ms is not null then
    -- Without limits, processes add runs at the same time.
    if _limits <> '{}' then perform {s}.lock_queues(_names, array[_queue]); end if;
    if {s}.queue_room(_names, _queue, _limits, null) > 0 and {s}.queue_room(_names, _queue, _limits, _tenant) > 0
      and not {s}.has_startable(_agent, _version, _queue) then
      select t.token_, t.version_, t.open_ into token_, version_, open_
        from {s}.take_session(_tenant, _owner, _session_agent, _session, _ms, _run) t;
    end if;
  end if;
  insert into {s}.runs (tenant, owner, session_agent, session, run, agent, version, run_at, idempotency_key, fingerprint, updated_at,
    task, shape, sealed_as, queue, priority, rank, status, attempts, token, worker)
    values (_tenant, _owner, _session_agent, _session, _run, _agent, _version, coalesce(_run_at, _now), _key, _fingerprints[1], _now,
      _task, _shape, _session_agent, _queue, _priority, _rank, case when token_ is null then 'queued' else 'running' end,
      case when token_ is null then 0 else 1 end, coalesce(token_, 0), case when token_ is not null then _worker end)
    returning n into n_;
  outcome_ := 'added';
  if _shape_body is not null and not exists (select from {s}.run_shapes where digest = _shape) then
    insert into {s}.run_shapes (digest, body) values (_shape, _shape_body) on conflict do nothing;
    delete from {s}.run_shapes where n <= (select max(n) from {s}.run_shapes) - ${keptShapes};
  end if;
  if token_ is null then return; end if;
  if _step is not null then insert into {s}.steps values (_tenant, _run, _step, token_, _step_body, _session_agent); end if;
  if _limits <> '{}' then perform {s}.count_start(_agent, _queue, _tenant, _limits); end if;
end $$;
`
