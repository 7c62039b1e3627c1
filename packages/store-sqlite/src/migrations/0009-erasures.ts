/**
 * Erasures are identified by digests under a key of the file. Data of an owner stores the token of its writer, so that an erasure deletes
 * older data, and nothing of a run that begins meanwhile. Accounts and holds are named by digests; `place` has the names of a hold that its
 * run may have to settle.
 */
export const erasures = `
create table secrets (name text primary key, key blob not null) strict, without rowid;
insert into secrets values ('digests', randomblob(32));

create table erasures (
  subject text primary key,
  token integer not null,
  at integer not null,
  expires_at integer not null
) strict, without rowid;

create table usage_totals (
  subject text not null,
  day text not null,
  runs integer not null,
  estimated integer not null,
  inputtokens real not null, outputtokens real not null, cachedinputtokens real not null,
  cachewritetokens real not null, reasoningtokens real not null, calls real not null,
  primary key (subject, day)
) strict, without rowid;

alter table vault add column token integer not null default 0;
alter table event_runs add column token integer not null default 0;
alter table outbox add column token integer not null default 0;
create index event_runs_by_owner on event_runs (tenant, owner);

alter table key_values add column tenant text;
alter table key_values add column owner text;
alter table key_values add column token integer not null default 0;
create index key_values_by_owner on key_values (tenant, owner) where tenant is not null;

alter table accounts add column digested integer not null default 0;
create index accounts_in_clear on accounts (name) where digested = 0;
alter table holds add column place text;
alter table holds add column tenant text;
alter table holds add column owner text;
alter table holds add column token integer not null default 0;
create index holds_by_owner on holds (tenant, owner) where tenant is not null;
`
