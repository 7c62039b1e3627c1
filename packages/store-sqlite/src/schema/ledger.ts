/** The end of a window is computed from the time left, so it differs by the time that the call takes. */
const maxEndDrift = 1000

/**
 * Accounts and holds are named by digests; `names` has the names of a hold that its run may have to settle. An erasure finds the
 * reservations of an owner among the unsettled ones of runs, so they need no index by owner. Triggers keep the sums of an account, so that
 * a post is one statement.
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
  spent real not null default 0,
  settled integer not null default 0,
  at integer not null,
  run text,
  expires_at integer,
  account_ends_at integer,
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

create trigger hold_made after insert on holds begin
  insert into accounts (name) values (new.account) on conflict do nothing;
  update accounts set reserved = reserved + new.amount where name = new.account;
  update accounts set ends_at = new.account_ends_at where name = new.account and new.account_ends_at is not null
    and (ends_at is null or ends_at not between new.account_ends_at and new.account_ends_at + ${maxEndDrift});
end;
create trigger hold_changed after update of settled, freed on holds
when old.settled <> new.settled or old.freed <> new.freed begin
  update accounts set spent = spent + new.spent,
    reserved = max(0, reserved - old.amount * (1 - old.freed) + new.amount * (1 - new.freed) * (1 - new.settled))
    where name = new.account;
end;
`
