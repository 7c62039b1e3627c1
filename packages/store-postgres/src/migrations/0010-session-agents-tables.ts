const agentOfRunningRun = (table: string, id: string) => `
  select r.agent from {s}.runs r where r.tenant = ${table}.tenant and r.owner = ${table}.owner and r.session = ${table}.${id}
  and (r.status in ('queued', 'running') or exists (
    select from {s}.waiting w
    where w.tenant = r.tenant and w.owner = r.owner and w.session = r.session and w.turn_id = r.run
  )) order by r.status <> 'running', r.n limit 1`

/**
 * Sessions belong to an agent. Sessions of earlier versions have the agent '' until it is read from their last turn, which may be sealed.
 * If a durable run is unfinished, its row has the agent. Rows that were sealed without an agent have '' in `sealed_as`.
 * Events of earlier runs are deleted: readers would not find them, and a run that continues emits its events again.
 */
export const sessionAgentTables = `
drop function {s}.take_lease, {s}.take_session, {s}.keep_turn, {s}.end_run, {s}.add_run, {s}.add_free_run, {s}.take_run,
  {s}.claim_runs, {s}.claim_orphans, {s}.record_step, {s}.give_up_run, {s}.retry_run, {s}.forget_runs,
  {s}.append_events, {s}.append_to_run, {s}.ask_run, {s}.take_signals, {s}.deal_signal;

alter table {s}.turns drop constraint turns_tenant_owner_session_fkey, drop constraint turns_pkey;
alter table {s}.waiting drop constraint waiting_tenant_owner_session_fkey;
alter table {s}.sessions drop constraint sessions_pkey, add column agent text collate "C" not null default '';
alter table {s}.turns
  add column agent text collate "C" not null default '', add column sealed_as text collate "C" not null default '';
alter table {s}.waiting add column agent text collate "C" not null default '';
alter table {s}.vault drop constraint vault_pkey,
  add column agent text collate "C" not null default '', add column sealed_as text collate "C" not null default '';
alter table {s}.runs
  add column session_agent text collate "C" not null default '', add column sealed_as text collate "C" not null default '';
alter table {s}.steps add column sealed_as text collate "C" not null default '';

update {s}.sessions set agent = (${agentOfRunningRun('sessions', 'id')})
  where exists (${agentOfRunningRun('sessions', 'id')});
delete from {s}.sessions where status is null and run is null and agent = '';
update {s}.turns t set agent = s.agent from {s}.sessions s
  where s.agent <> '' and t.tenant = s.tenant and t.owner = s.owner and t.session = s.id;
update {s}.waiting w set agent = s.agent from {s}.sessions s
  where s.agent <> '' and w.tenant = s.tenant and w.owner = s.owner and w.session = s.id;
update {s}.vault v set agent = s.agent from {s}.sessions s
  where s.agent <> '' and v.tenant = s.tenant and v.owner = s.owner and v.session = s.id;
update {s}.runs set session_agent = agent;

alter table {s}.sessions add primary key (tenant, owner, agent, id);
create index sessions_unclaimed on {s}.sessions (hashtextextended(tenant, 0), owner, id) where agent = '';
alter table {s}.turns add primary key (tenant, owner, agent, session, seq),
  add foreign key (tenant, owner, agent, session) references {s}.sessions (tenant, owner, agent, id)
    on update cascade on delete cascade;
alter table {s}.waiting
  add foreign key (tenant, owner, agent, session) references {s}.sessions (tenant, owner, agent, id)
    on update cascade on delete cascade;
alter table {s}.vault add primary key (tenant, owner, agent, session, layer);

delete from {s}.event_runs;
alter table {s}.event_runs drop constraint event_runs_tenant_owner_session_turn_id_key,
  add column agent text collate "C" not null, add unique (tenant, owner, agent, session, turn_id);
`
