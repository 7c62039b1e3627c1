/**
 * Each consumer has a cursor: records up to it were claimed at least once, so `take` scans none of the completed ones. Records have an
 * owner, so that `erase` finds them, and an age that does not depend on the wall clock.
 */
export const outboxCursors = `
create table outbox_cursors (consumer text primary key, seen integer not null) strict, without rowid;
create index outbox_places_open on outbox_places (consumer, seq) where done = 0;
create index outbox_places_by_seq on outbox_places (seq);

create table outbox_clock (
  one integer primary key check (one = 1),
  elapsed real not null,
  monotonic real not null,
  boot text not null,
  seen_at integer not null
) strict;
insert into outbox_clock values (1, 0, 0, '', 0);

alter table outbox add column since real not null default 0;
create index outbox_by_age on outbox (since);
alter table outbox add column owner text;
update outbox set owner = found.owner
  from (select tenant, turn_id, min(owner) as owner from turns group by tenant, turn_id having count(distinct owner) = 1) as found
  where found.tenant = outbox.tenant and found.turn_id = outbox.turn_id;
create index outbox_by_owner on outbox (tenant, owner);
`
