/**
 * Events by their place, which is one integer: the run in the upper 32 bits, the position of the batch's first event in the lower ones. A
 * batch of up to 4 kB fits into a page of this table. In a table without rowids, a batch of more than 1 kB takes a page of its own.
 * Deleting a run deletes its events and signals.
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

create trigger event_run_gone after delete on event_runs begin
  delete from events where place between old.run << 32 and old.run << 32 | 4294967295;
  delete from event_signals where run = old.run;
end;
`
