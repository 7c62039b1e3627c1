import { ofSession } from './matches.ts'
import { isRetained } from './retention.ts'

/**
 * All lock the run's row while they check and write. An append is recognized by its request, also if it ends the run, so that it can be sent
 * again after its reply was lost. Unhandled steers are returned to the process that ends the run, and kept until it acknowledges them.
 *
 * Functions that delete expired rows turn off `enable_seqscan`: the server plans them while the table is empty, and would keep reading all rows.
 */
export const events = `
create function {s}.append_to_run(
  _tenant text, _owner text, _session_agent text, _session text, _turn_id text, _epoch double precision,
  _request text, _id text, _count integer, _body bytea, _end boolean, _ttl double precision, _lease bigint, _began double precision,
  out outcome_ text, out seq_ integer, out ns_ integer[], out ids_ text[], out bodies_ bytea[]
) language plpgsql set enable_seqscan = off as $$
declare
  r {s}.event_runs%rowtype;
  _token bigint;
begin
  loop
    select * into r from {s}.event_runs where ${ofSession} and turn_id = _turn_id for update;
    exit when found and ${isRetained('_ttl')};
    if found then delete from {s}.event_runs where run = r.run; end if;
    -- Only a writer that is not fenced opens a run.
    _token := {s}.writer_token(_tenant, _owner, _session_agent, _session, _lease, _began);
    if _token is null then
      outcome_ := 'gone';
      return;
    end if;
    insert into {s}.event_runs (tenant, owner, agent, session, turn_id, epoch, touched_at, token)
      values (_tenant, _owner, _session_agent, _session, _turn_id, _epoch, {s}.now_ms(), _token) on conflict do nothing;
  end loop;
  seq_ := r.seq;
  outcome_ := case
    when r.request = _request then 'appended'
    when _epoch < r.epoch then 'taken'
    when _epoch = r.epoch and r.ended_at is not null then 'ended'
  end;
  if outcome_ is not null then return; end if;
  if _end then
    delete from {s}.event_signals where run = r.run and id is null;
    select array_agg(n order by n), array_agg(id order by n), array_agg(body order by n) into ns_, ids_, bodies_
      from {s}.event_signals where run = r.run and not acknowledged;
    if ns_ is not null then
      update {s}.event_runs set epoch = _epoch, ended_at = null, touched_at = {s}.now_ms() where run = r.run;
      outcome_ := 'undelivered';
      return;
    end if;
  end if;
  if _count > 0 then
    insert into {s}.events values (r.run, r.seq + 1, _count, _id, _body);
    seq_ := r.seq + _count;
  end if;
  update {s}.event_runs set epoch = _epoch, seq = seq_, touched_at = {s}.now_ms(), request = _request,
    ended_at = case when _end then {s}.now_ms() end where run = r.run;
  outcome_ := 'appended';
  if _end then
    delete from {s}.event_runs where run = any (array(
      select run from {s}.event_runs where ended_at <= (select {s}.now_ms()) - _ttl
      order by ended_at limit 100 for update skip locked
    ));
  end if;
end $$;

create function {s}.add_signal(
  _tenant text, _owner text, _session_agent text, _session text, _turn_id text, _ttl double precision, _id text, _body bytea
) returns boolean language plpgsql as $$
declare
  held {s}.event_runs%rowtype;
begin
  select * into held from {s}.event_runs r
    where ${ofSession} and turn_id = _turn_id and ended_at is null and ${isRetained('_ttl')} for update;
  if not found then return false; end if;
  if exists (select from {s}.event_signals where run = held.run and id is not distinct from _id) then return true; end if;
  insert into {s}.event_signals (run, n, id, body) values (held.run, held.last_signal + 1, _id, _body);
  update {s}.event_runs set last_signal = held.last_signal + 1 where run = held.run;
  return true;
end $$;

create function {s}.acknowledge_at_end(
  _tenant text, _owner text, _session_agent text, _session text, _turn_id text, _epoch double precision, _ns integer[]
) returns boolean language plpgsql as $$
declare
  _run bigint;
begin
  select run into _run from {s}.event_runs
    where ${ofSession} and turn_id = _turn_id and epoch <= _epoch for update;
  if not found then return false; end if;
  update {s}.event_signals set acknowledged = true, body = null where run = _run and n = any (_ns);
  return true;
end $$;

create function {s}.acknowledge_signal(
  _tenant text, _owner text, _session_agent text, _session text, _turn_id text, _listener integer, _n integer
) returns void language plpgsql as $$
declare
  _run bigint;
begin
  select run into _run from {s}.event_runs
    where ${ofSession} and turn_id = _turn_id and listener = _listener
    for update;
  if not found then return; end if;
  delete from {s}.event_signals where run = _run and n = _n and id is null;
  update {s}.event_signals set acknowledged = true, body = null where run = _run and n = _n;
end $$;
`
