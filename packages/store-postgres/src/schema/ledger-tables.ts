/** Accounts and holds are named by digests; `names` has the names of a hold that its run may have to settle. */
export const ledgerTables = `
create table {s}.accounts (
  name text collate "C" primary key,
  spent numeric not null default 0,
  reserved numeric not null default 0,
  ends_at double precision
) with (fillfactor = 50);
create index accounts_by_end on {s}.accounts (ends_at) where ends_at is not null;

create table {s}.holds (
  account text collate "C" not null,
  id text collate "C" not null,
  amount numeric not null,
  settled boolean not null default false,
  at double precision not null,
  run text,
  expires_at double precision,
  freed boolean not null default false,
  names text,
  tenant text collate "C",
  owner text collate "C",
  token bigint not null default 0,
  primary key (account, id)
) with (fillfactor = 80);
create index holds_by_time on {s}.holds (at);
create index holds_by_run on {s}.holds (hashtextextended(run, 0)) where run is not null and not settled;
create index holds_by_expiry on {s}.holds (account, expires_at)
  where not settled and not freed and expires_at is not null;
create index holds_by_owner on {s}.holds (tenant, owner) where tenant is not null;
`
