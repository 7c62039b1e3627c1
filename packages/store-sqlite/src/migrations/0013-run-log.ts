const isLive = (row: string) => `${row}.status in ('queued', 'running')`
const entry = (kind: string, columns = '', values = '') =>
  `insert into run_log (tenant, run, at, kind${columns}) values (new.tenant, new.run, new.updated_at, '${kind}'${values});`

/** Returns the statement that adds an entry without a trigger, because its time is in no row: tenant, run, time, detail. */
export const logEntry = (kind: 'step' | 'stop') =>
  `insert into run_log (tenant, run, at, kind, detail) values (?, ?, ?, '${kind}', ?)`

/**
 * The timeline of a run, for operators: when it was added, claimed, stopped, retried and ended, and when each step was recorded. It outlives
 * the steps, and is deleted with its run.
 */
export const runLog = `
create table run_log (
  n integer primary key autoincrement,
  tenant text not null,
  run text not null,
  at integer not null,
  kind text not null,
  detail text,
  attempt integer,
  code text
) strict;
create index run_log_by_run on run_log (tenant, run, n);
create index runs_by_status on runs (status, updated_at);
create index runs_by_id on runs (run);

create trigger run_added after insert on runs begin
  ${entry('added')}
end;
create trigger run_claimed after update of token on runs when new.status = 'running' and old.token <> new.token begin
  ${entry('claimed', ', attempt', ', new.attempts')}
end;
create trigger run_retried after update of status on runs when new.status = 'queued' and not ${isLive('old')} begin
  ${entry('retried')}
end;
create trigger run_ended after update of status on runs when not ${isLive('new')} and old.status <> new.status begin
  ${entry('ended', ', detail, code', ', new.status, new.code')}
end;
create trigger run_log_gone after delete on runs begin
  delete from run_log where tenant = old.tenant and run = old.run;
end;
`
