import { stepInLog } from '@allium/store-sql'

const ended = (row: string) => `${row}.status not in ('queued', 'running')`

/**
 * The timeline of a run: when it was added, claimed, stopped, retried and ended, and when each step was recorded. Triggers write it, so no
 * statement that changes a run can forget it. It is deleted with its run.
 */
export const runLog = `
create function {s}.log_run() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into {s}.run_log (run, at, kind) values (new.n, new.updated_at, 'added');
    if new.status = 'running' then
      insert into {s}.run_log (run, at, kind, attempt, detail) values (new.n, new.updated_at, 'claimed', new.attempts, new.worker);
    end if;
    return null;
  end if;
  if old.stop is null and new.stop is not null then
    insert into {s}.run_log (run, at, kind) values (new.n, {s}.now_ms(), 'stop');
  end if;
  if new.status = 'running' and old.token <> new.token then
    insert into {s}.run_log (run, at, kind, attempt, detail)
      values (new.n, {s}.now_ms(), 'claimed', new.attempts, new.worker);
  elsif new.status = 'queued' and ${ended('old')} then
    insert into {s}.run_log (run, at, kind) values (new.n, {s}.now_ms(), 'retried');
  elsif ${ended('new')} and old.status <> new.status then
    insert into {s}.run_log (run, at, kind, detail, code) values (new.n, {s}.now_ms(), 'ended', new.status, new.code);
  end if;
  return null;
end $$;
create trigger run_added after insert on {s}.runs for each row execute function {s}.log_run();
create trigger run_changed after update on {s}.runs for each row
  when (old.status is distinct from new.status or old.token is distinct from new.token or old.stop is distinct from new.stop)
  execute function {s}.log_run();

create function {s}.log_step() returns trigger language plpgsql as $$
begin
  insert into {s}.run_log (run, at, kind, detail)
    select n, {s}.now_ms(), 'step', ${stepInLog('new')} from {s}.runs where tenant = new.tenant and run = new.run;
  return null;
end $$;
create trigger step_recorded after insert on {s}.steps for each row execute function {s}.log_step();

-- Skips a run that is locked: it is being claimed or erased.
create function {s}.mark_reported() returns trigger language plpgsql as $$
begin
  update {s}.runs set reported = true where n in (
    select n from {s}.runs where tenant = new.tenant and run = new.turn_id and token = new.epoch
    and ${ended('runs')} for update skip locked
  );
  return null;
end $$;
create trigger run_reported after update of ended_at on {s}.event_runs for each row when (new.ended_at is not null)
  execute function {s}.mark_reported();

create function {s}.run_log_gone() returns trigger language plpgsql as $$
begin
  delete from {s}.run_log where run = old.n;
  return null;
end $$;
create trigger run_log_gone after delete on {s}.runs for each row execute function {s}.run_log_gone();
`
