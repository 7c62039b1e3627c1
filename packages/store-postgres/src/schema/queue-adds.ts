import { priorityStep } from '@allium/store-sql'
import { freeSession, laneMatches } from './matches.ts'

/** Adds runs to queues. A new run starts at once only if no other run of its queue could, and if the limits allow it. */
export const queueAdds = `
create function {s}.has_startable(_agent text, _version text, _queue text, _n bigint) returns boolean language plpgsql as $$
declare
  _now double precision := {s}.now_ms();
begin
  return exists (select from {s}.runs r join ${freeSession} where ${laneMatches} and r.n <> _n);
end $$;

create function {s}.add_queued_run(
  _tenant text, _owner text, _session_agent text, _session text, _run text, _agent text, _version text, _run_at double precision,
  _key text, _asked text[], _decides text[], _task bytea, _ms double precision, _unless_busy double precision,
  _queue text, _priority integer, _limits jsonb, _names text[],
  out outcome_ text, out n_ bigint, out absent_ text[], out token_ bigint, out version_ integer, out open_ boolean,
  out held_until_ double precision
) language plpgsql as $$
declare
  _rank double precision;
begin
  -- It holds the row of the session until the end of the transaction.
  select * into outcome_, n_, absent_, token_, version_, open_, held_until_
    from {s}.add_free_run(_tenant, _owner, _session_agent, _session, _run, _agent, _version, _run_at, _key, _asked, _decides, _task,
      null, _unless_busy);
  if outcome_ <> 'added' then return; end if;
  -- One that was sent once more and has its rank changes no more.
  update {s}.runs set queue = _queue, priority = _priority,
    rank = case when run_at <= {s}.now_ms() then run_at + _priority * ${priorityStep} end
    where n = n_ and status = 'queued' and rank is null returning rank into _rank;
  if _rank is null or _ms is null then return; end if;
  -- Without limits, processes add runs at the same time.
  if _limits <> '{}' then perform {s}.lock_queues(_names, array[_queue]); end if;
  if {s}.queue_room(_names, _queue, _limits, null) <= 0 or {s}.queue_room(_names, _queue, _limits, _tenant) <= 0
    or {s}.has_startable(_agent, _version, _queue, n_) then return; end if;
  select t.token_, t.version_, t.open_ into token_, version_, open_
    from {s}.take_session(_tenant, _owner, _session_agent, _session, _ms, _run) t;
  if token_ is null then return; end if;
  update {s}.runs set status = 'running', attempts = 1, token = token_ where n = n_;
  if _limits <> '{}' then perform {s}.count_start(_agent, _queue, _tenant, _limits); end if;
end $$;

-- A run that is retried waits from then on.
create function {s}.run_queued() returns trigger language plpgsql as $$
begin
  new.rank := null;
  return new;
end $$;
create trigger run_queued before update of status on {s}.runs for each row
  when (new.status = 'queued' and old.status <> 'queued') execute function {s}.run_queued();
`
