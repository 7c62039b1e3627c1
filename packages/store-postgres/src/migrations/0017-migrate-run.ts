/** Moves a run to another version of its agent, unless a process is executing it. */
export const migrateRun = `
create function {s}.migrate_run(_tenant text, _run text, _from text, _to text) returns boolean language plpgsql as $$
declare
  r {s}.runs%rowtype;
begin
  select * into r from {s}.runs where tenant = _tenant and run = _run and version = _from;
  if not found then return false; end if;
  -- A process that claims the run waits for this lock, and then sees the new version.
  perform from {s}.sessions
    where tenant = _tenant and owner = r.owner and agent = r.session_agent and id = r.session for update;
  perform from {s}.sessions
    where tenant = _tenant and owner = r.owner and agent = r.session_agent and id = r.session
    and run = _run and held_until > {s}.now_ms();
  if found then return false; end if;
  if r.status = 'failed' and not {s}.retry_run(_tenant, _run) then return false; end if;
  update {s}.runs set version = _to, attempts = 0, updated_at = {s}.now_ms()
    where n = r.n and version = _from and status in ('queued', 'running');
  return found;
end $$;
`
