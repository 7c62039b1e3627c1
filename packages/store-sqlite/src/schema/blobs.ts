export const deleteHolders = (holder: string, kinds: string, agent = 'old.agent') => `delete from blob_holders
    where tenant = old.tenant and owner = old.owner and agent = ${agent} and session = old.session and kind in (${kinds}) and holder = ${holder};`

/**
 * Images and files are stored separately from the rows that refer to them, once per owner, in pieces. A row of `blob_holders` records which
 * row needs them: a turn, the open turn, the task or a step of a durable run, the events of a run, a record of the outbox, or a write that
 * has not been committed yet. A blob without holders is listed in `unheld_blobs` and deleted in small steps. Deleting a run of events
 * deletes its events and signals, too.
 */
export const blobs = `
create table blobs (
  tenant text not null, owner text not null,
  digest text not null,
  piece integer not null,
  body blob not null,
  primary key (tenant, owner, digest, piece)
) strict;

create table blob_holders (
  tenant text not null, owner text not null, agent text not null, session text not null,
  kind text not null,
  holder text not null,
  digest text not null,
  at integer not null,
  primary key (tenant, owner, agent, session, kind, holder, digest)
) strict, without rowid;
create index blob_holders_by_digest on blob_holders (tenant, owner, digest);
create index blob_writes on blob_holders (at) where kind = 'write';
create index blob_records on blob_holders (holder) where kind = 'record';

create table unheld_blobs (
  tenant text not null, owner text not null,
  digest text not null,
  primary key (tenant, owner, digest)
) strict, without rowid;

create trigger blob_unheld after delete on blob_holders
when not exists (
  select 1 from blob_holders where tenant = old.tenant and owner = old.owner and digest = old.digest
) begin
  insert or ignore into unheld_blobs values (old.tenant, old.owner, old.digest);
end;
create trigger task_gone after update of task on runs when old.task is not null and new.task is null begin
  ${deleteHolders('old.run', "'task'", 'old.session_agent')}
end;
create trigger events_gone after delete on event_runs begin
  delete from events where place between old.run << 32 and old.run << 32 | 4294967295;
  delete from event_signals where run = old.run;
  ${deleteHolders('old.turn_id', "'event'")}
end;
create trigger record_gone after delete on outbox begin
  delete from blob_holders where kind = 'record' and holder = old.id and tenant = old.tenant;
end;
`
