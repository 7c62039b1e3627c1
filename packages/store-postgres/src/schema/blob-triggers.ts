const ofOld = (agent: string, session: string, rest: string) => `begin
  delete from {s}.blob_holders where tenant = old.tenant and owner = old.owner and agent = old.${agent} and session = old.${session} and ${rest};
  return null;
end`

/** The holders of blobs are deleted with their rows. The events of a session are deleted when it moves. */
export const blobTriggers = `
create function {s}.blob_unheld() returns trigger language plpgsql as $$
begin
  insert into {s}.unheld_blobs (tenant, owner, digest) values (old.tenant, old.owner, old.digest);
  return null;
end $$;
create trigger blob_unheld after delete on {s}.blob_holders for each row execute function {s}.blob_unheld();

create function {s}.session_gone() returns trigger language plpgsql as $$
${ofOld('agent', 'id', "kind in ('turn', 'open', 'write')")} $$;
create trigger session_gone after delete on {s}.sessions for each row execute function {s}.session_gone();

create function {s}.session_moved() returns trigger language plpgsql as $$
begin
  update {s}.blob_holders set agent = new.agent
    where tenant = old.tenant and owner = old.owner and agent = old.agent and session = old.id and kind <> 'event';
  return null;
end $$;
create trigger session_moved after update of agent on {s}.sessions for each row execute function {s}.session_moved();

create function {s}.task_gone() returns trigger language plpgsql as $$
${ofOld('session_agent', 'session', "kind = 'task' and holder = old.run")} $$;
create trigger task_gone after update of task on {s}.runs for each row
  when (old.task is not null and new.task is null) execute function {s}.task_gone();

create function {s}.run_gone() returns trigger language plpgsql as $$
${ofOld('session_agent', 'session', "kind in ('task', 'step') and holder = old.run")} $$;
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
`
