/**
 * Erasures are identified by digests under a key of the file. Data of an owner stores the token of its writer, so that an erasure deletes
 * older data, and nothing of a run that begins meanwhile. `usage_totals` keeps the usage of erased sessions.
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
`
