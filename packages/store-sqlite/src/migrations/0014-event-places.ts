import { deleteHolders } from '../run-blobs.ts'

/**
 * Events by their place, which is one integer: the run in the upper 32 bits, the position of the batch's first event in the lower ones. A
 * batch of up to 4 kB fits into a page of this table. In a table without rowids, a batch of more than 1 kB takes a whole page.
 * Deleting a run deletes its events and signals.
 *
 * Runs lose `autoincrement`, which writes another table for each run, and an index that begins like their unique one.
 */
export const eventPlaces = `
create table events_by_place (
  place integer primary key,
  count integer not null,
  id text not null,
  body blob not null
) strict;
insert into events_by_place select run << 32 | first, count, id, body from events order by run, first;
drop table events;
alter table events_by_place rename to events;

create table new_event_runs (
  run integer primary key,
  tenant text not null, owner text not null, agent text not null, session text not null, turn_id text not null,
  epoch real not null,
  seq integer not null default 0,
  asked integer not null default 0,
  listener integer not null default 0,
  touched_at integer not null,
  ended_at integer,
  token integer not null default 0,
  unique (tenant, owner, agent, session, turn_id)
) strict;
insert into new_event_runs select * from event_runs;
drop table event_runs;
alter table new_event_runs rename to event_runs;
create index event_runs_by_end on event_runs (ended_at) where ended_at is not null;
create index event_runs_by_touch on event_runs (touched_at) where ended_at is null;
create trigger events_gone after delete on event_runs begin
  delete from events where place between old.run << 32 and old.run << 32 | 4294967295;
  delete from event_signals where run = old.run;
  ${deleteHolders('old.turn_id', "'event'")}
end;
`
