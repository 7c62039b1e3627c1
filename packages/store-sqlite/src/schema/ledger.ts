/**
 * Accounts and holds are named by digests; `names` has the names of a hold that its run may have to settle. An erasure finds the
 * reservations of an owner among the unsettled ones of runs, so they need no index by owner.
 */
export const ledger = `
create table accounts (
  name text primary key,
  spent real not null default 0,
  reserved real not null default 0,
  ends_at integer
) strict, without rowid;
create index accounts_by_end on accounts (ends_at) where ends_at is not null;

create table holds (
  account text not null,
  id text not null,
  amount real not null,
  settled integer not null default 0,
  at integer not null,
  run text,
  expires_at integer,
  freed integer not null default 0,
  names text,
  tenant text,
  owner text,
  token integer not null default 0,
  primary key (account, id)
) strict, without rowid;
create index holds_by_run on holds (run) where run is not null and settled = 0;
create index holds_by_expiry on holds (account, expires_at) where settled = 0 and freed = 0 and expires_at is not null;
create index holds_by_time on holds (at) where settled = 1;
`
