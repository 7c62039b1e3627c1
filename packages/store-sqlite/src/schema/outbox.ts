/**
 * Each consumer has a cursor: records up to it were claimed at least once, so `take` scans none of the completed ones. Records have an
 * owner, so that `erase` finds them, and an age that does not depend on the wall clock.
 */
export const outbox = `
create table outbox (
  seq integer primary key autoincrement,
  id text not null unique,
  tenant text not null, owner text not null,
  token integer not null,
  turn_id text not null,
  added_at integer not null,
  body blob not null,
  since real not null
) strict;
create index outbox_by_age on outbox (since);
create index outbox_by_owner on outbox (tenant, owner);

create table outbox_deliveries (
  consumer text not null,
  seq integer not null,
  held_until real not null,
  boot text not null,
  done integer not null default 0,
  primary key (consumer, seq)
) strict, without rowid;
create index outbox_deliveries_open on outbox_deliveries (consumer, seq) where done = 0;
create index outbox_deliveries_by_seq on outbox_deliveries (seq);

create table outbox_cursors (consumer text primary key, seen integer not null) strict, without rowid;

create table outbox_clock (
  one integer primary key check (one = 1),
  elapsed real not null,
  monotonic real not null,
  boot text not null,
  seen_at integer not null
) strict;
insert into outbox_clock values (1, 0, 0, '', 0);
`
