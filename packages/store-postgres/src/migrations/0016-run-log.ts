const ended = (row: string) => `${row}.status not in ('queued', 'running')`

/**
 * The timeline of a run, for operators: when it was added, claimed, stopped, retried and ended, and when each step was recorded. Triggers
 * write it, so no statement that changes a run can forget it. It outlives the steps, and is deleted with its run.
 */
export const runLog = `
create table {s}.run_log (
  n bigint generated always as identity primary key,
  tenant text collate "C" not null,
  run text collate "C" not null,
  at double precision not null,
  kind text not null,
  detail text,
  attempt integer,
  code text
);
create index run_log_by_run on {s}.run_log (tenant, run, n);
create index runs_by_status on {s}.runs (status, updated_at);
create index runs_by_id on {s}.runs (hashtextextended(run, 0));

create function {s}.log_run() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into {s}.run_log (tenant, run, at, kind) values (new.tenant, new.run, new.updated_at, 'added');
    return null;
  end if;
  if old.stop is null and new.stop is not null then
    insert into {s}.run_log (tenant, run, at, kind) values (new.tenant, new.run, {s}.now_ms(), 'stop');
  end if;
  if new.status = 'running' and old.token <> new.token then
    insert into {s}.run_log (tenant, run, at, kind, attempt) values (new.tenant, new.run, {s}.now_ms(), 'claimed', new.attempts);
  elsif new.status = 'queued' and ${ended('old')} then
    insert into {s}.run_log (tenant, run, at, kind) values (new.tenant, new.run, {s}.now_ms(), 'retried');
  elsif ${ended('new')} and old.status <> new.status then
    insert into {s}.run_log (tenant, run, at, kind, detail, code) values (new.tenant, new.run, {s}.now_ms(), 'ended', new.status, new.code);
  end if;
  return null;
end $$;
create trigger run_added after insert on {s}.runs for each row execute function {s}.log_run();
create trigger run_changed after update on {s}.runs for each row
  when (old.status is distinct from new.status or old.token is distinct from new.token or old.stop is distinct from new.stop)
  execute function {s}.log_run();

create function {s}.log_step() returns trigger language plpgsql as $$
begin
  insert into {s}.run_log (tenant, run, at, kind, detail) values (new.tenant, new.run, {s}.now_ms(), 'step', new.id);
  return null;
end $$;
create trigger step_recorded after insert on {s}.steps for each row execute function {s}.log_step();

create function {s}.run_log_gone() returns trigger language plpgsql as $$
begin
  delete from {s}.run_log where tenant = old.tenant and run = old.run;
  return null;
end $$;
create trigger run_log_gone after delete on {s}.runs for each row execute function {s}.run_log_gone();

create function {s}.expire_runs(_statuses text[], _ms double precision[]) returns table (status text, gone integer) language sql as $$
  with due as (
    select r.n from unnest(_statuses, _ms) e (status, ms), lateral (
      select o.n from {s}.runs o
      where o.status = e.status and o.updated_at < (select {s}.now_ms()) - e.ms and not exists (
        select from {s}.waiting w
        where w.tenant = o.tenant and w.owner = o.owner and w.agent = o.session_agent and w.session = o.session and w.turn_id = o.run
      ) order by o.updated_at limit 1000 for update skip locked
    ) r
  ), gone as (
    delete from {s}.runs g where g.n in (select n from due) returning g.status
  )
  select g.status, count(*)::integer from gone g group by g.status
$$;
`
