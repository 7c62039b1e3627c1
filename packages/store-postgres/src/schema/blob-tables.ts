/**
 * Images and files are stored separately from the rows that refer to them, once per owner, in pieces. A row of `blob_holders` records which
 * row needs them: a turn, the open turn, the task or a step of a durable run, the events of a run, a record of the outbox, or a write that
 * has not been committed yet. Each blob that lost a holder is listed in `unheld_blobs`.
 */
export const blobTables = `
create table {s}.blobs (
  tenant text collate "C" not null,
  owner text collate "C" not null,
  digest text collate "C" not null,
  piece integer not null,
  body bytea not null,
  primary key (tenant, owner, digest, piece)
);
alter table {s}.blobs alter column body set storage external;

create table {s}.blob_holders (
  tenant text collate "C" not null,
  owner text collate "C" not null,
  agent text collate "C" not null,
  session text collate "C" not null,
  kind text not null,
  holder text not null,
  digest text collate "C" not null,
  at double precision not null
);
create index blob_holders_by_session on {s}.blob_holders (tenant, owner, agent, session);
create index blob_holders_by_digest on {s}.blob_holders (digest);
create index blob_writes on {s}.blob_holders (at) where kind = 'write';
create index blob_records on {s}.blob_holders (holder) where kind = 'record';

create table {s}.unheld_blobs (
  n bigint generated always as identity primary key,
  tenant text collate "C" not null,
  owner text collate "C" not null,
  digest text collate "C" not null
);
`
