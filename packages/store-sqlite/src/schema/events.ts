/**
 * Events by their place, which is one integer: the run in the upper 32 bits, the position of the batch's first event in the lower ones. A
 * batch of up to 4 kB fits into a page of this table. In a table without rowids, a batch of more than 1 kB takes a whole page. Runs have no
 * `autoincrement`, which would write another table for each run. A batch carries what it changes about its run, so that one statement
 * appends it.
 */
export const events = `
create table event_runs (
  run integer primary key,
  tenant text not null, owner text not null, agent text not null, session text not null, turn_id text not null,
  epoch real not null,
  seq integer not null default 0,
  last_signal integer not null default 0,
  listener integer not null default 0,
  touched_at integer not null,
  ended_at integer,
  token integer not null default 0,
  unique (tenant, owner, agent, session, turn_id)
) strict;
create index event_runs_by_end on event_runs (ended_at) where ended_at is not null;
create index event_runs_by_touch on event_runs (touched_at) where ended_at is null;

create table events (
  place integer primary key,
  count integer not null,
  id text not null,
  body blob not null,
  run integer not null,
  epoch real not null,
  at integer not null,
  ends integer not null
) strict;
create trigger events_appended after insert on events begin
  update event_runs set epoch = new.epoch, seq = seq + new.count, touched_at = new.at, ended_at = iif(new.ends, new.at, null)
  where run = new.run;
end;

create table event_signals (
  run integer not null,
  n integer not null,
  id text,
  acknowledged integer not null default 0,
  body blob,
  primary key (run, n)
) strict, without rowid;
create index event_signals_by_id on event_signals (run, id);
`

/** Matches the events of a run, whose number is the first parameter. */
export const ofRun = 'place between ?1 << 32 and ?1 << 32 | 4294967295'
