const deleteTaskHolders = `delete from blob_holders where tenant = old.tenant and owner = old.owner and agent = old.session_agent
    and session = old.session and kind = 'task' and holder = old.run;`

/**
 * Images and files are stored separately from the rows that refer to them, once per owner, in pieces. A row of `blob_holders` records
 * which row needs them: a turn, the open turn, the task of a durable run, or a write that has not been committed yet. A blob without
 * holders is listed in `unheld_blobs` and deleted in small steps.
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
  ${deleteTaskHolders}
end;
create trigger run_gone after delete on runs begin
  ${deleteTaskHolders}
end;
`
