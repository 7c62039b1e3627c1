import { tombstoneTtl } from '@allium/store-sql'
import { holdBlobs, keepBlobs, sessionMatches } from './migrations/0013-blobs.ts'

const replaced = (create: string) => create.replace('create', 'create or replace')
const ofOld = (agent: string, session: string, rest: string) => `begin
  delete from {s}.blob_holders where tenant = old.tenant and owner = old.owner and agent = old.${agent} and session = old.${session} and ${rest};
  return null;
end`

/**
 * The steps of a durable run, the events of a run, and the records of the outbox also hold blobs. Their lifetime differs from that of their
 * session, so deleting a session removes only the blobs of its turns. Triggers delete the other holders with their rows. The events of a
 * session are deleted when it moves. A task and events are written without a lease, so their session is deleted first if it was erased;
 * otherwise the erasure would later delete the write, too. Completed records need no blobs. An erasure rejects writes in progress.
 */
export const runBlobs = `
alter table {s}.blob_holders drop constraint blob_holders_tenant_owner_agent_session_fkey;
create index blob_records on {s}.blob_holders (holder) where kind = 'record';

create function {s}.session_gone() returns trigger language plpgsql as $$ ${ofOld('agent', 'id', "kind in ('turn', 'open', 'write')")} $$;
create trigger session_gone after delete on {s}.sessions for each row execute function {s}.session_gone();

create function {s}.session_moved() returns trigger language plpgsql as $$
begin
  update {s}.blob_holders set agent = new.agent
    where tenant = old.tenant and owner = old.owner and agent = old.agent and session = old.id and kind <> 'event';
  return null;
end $$;
create trigger session_moved after update of agent on {s}.sessions for each row execute function {s}.session_moved();

create function {s}.run_gone() returns trigger language plpgsql as $$
${ofOld('session_agent', 'session', "kind in ('task', 'step') and holder = old.run")} $$;
drop trigger run_gone on {s}.runs;
create trigger run_gone after delete on {s}.runs for each row execute function {s}.run_gone();

create function {s}.events_gone() returns trigger language plpgsql as $$
${ofOld('agent', 'session', "kind = 'event' and holder = old.turn_id")} $$;
create trigger events_gone after delete on {s}.event_runs for each row execute function {s}.events_gone();

create function {s}.record_gone() returns trigger language plpgsql as $$
begin
  delete from {s}.blob_holders where kind = 'record' and holder = old.id and tenant = old.tenant;
  return null;
end $$;
create trigger record_gone after delete on {s}.outbox for each row execute function {s}.record_gone();

create or replace function {s}.end_run(
  _tenant text, _owner text, _session_agent text, _session text, _run text, _status text, _code text
) returns void language plpgsql as $$
begin
  update {s}.sessions set run = null
    where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session and run = _run;
  if not found then return; end if;
  update {s}.runs set status = _status, code = _code, updated_at = {s}.now_ms(),
    task = case when _status in ('failed', 'suspended') then task end
    where tenant = _tenant and run = _run;
  delete from {s}.steps where tenant = _tenant and run = _run;
  delete from {s}.blob_holders where ${sessionMatches} and kind = 'step' and holder = _run;
end $$;

${replaced(
  holdBlobs(`  if _token is null then
    perform {s}.forget_erased(_tenant, _owner, _session_agent, _session);
  else
    perform from {s}.sessions
      where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session and token = _token for key share;
    if not found then return null; end if;
  end if;
`),
)}

${replaced(keepBlobs("_kind in ('turn', 'open')"))}

create function {s}.hold_records(
  _tenant text, _owner text, _session_agent text, _session text, _records text[], _blobs text[]
) returns void language sql as $$
  insert into {s}.blob_holders
    select _tenant, _owner, _session_agent, _session, 'record', r.id, r.blob, {s}.now_ms()
    from unnest(_records, _blobs) r (id, blob)
    where exists (select from {s}.outbox o where o.id = r.id and o.tenant = _tenant)
    and not exists (select from {s}.blob_holders h where h.kind = 'record' and h.holder = r.id and h.tenant = _tenant and h.digest = r.blob)
$$;

create or replace function {s}.begin_erasure(
  _tenant text, _owner text, _agent text, _session text, out token_ bigint, out run_ bigint
) language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('{s}.erasure ' || _tenant, 0));
  delete from {s}.erasures where expires_at <= {s}.now_ms();
  token_ := nextval('{s}.tokens');
  insert into {s}.erasures values (
    {s}.digest(to_json(array_remove(array[_tenant, _owner, _agent, _session], null))::text),
    token_, {s}.now_ms(), {s}.now_ms() + ${tombstoneTtl}
  ) on conflict (subject) do update set token = excluded.token, at = excluded.at, expires_at = excluded.expires_at;
  select coalesce(max(n), 0) into run_ from {s}.runs;
  delete from {s}.blob_holders where kind = 'write' and tenant = _tenant and (_owner is null or owner = _owner)
    and (_agent is null or agent = _agent) and (_session is null or session = _session);
end $$;
`
