/**
 * Rollouts with their counts, and the turns of open windows, by digests. The row of a user that has counted has no turn, so that it does
 * not count again.
 */
export const rollouts = `
create table rollouts (
  name text primary key,
  round integer not null, started_at integer not null, max_drop real, alpha real,
  stopped_at integer, stopped_by text, good_at integer,
  counts text not null
) strict, without rowid;
create table rollout_turns (
  n integer primary key,
  rollout text not null, round integer not null, user text not null, turn text not null,
  tenant text not null, owner text not null, token integer not null,
  changed integer not null, size integer not null, closes_at integer, settled integer not null, score real,
  unique (rollout, user, round, turn)
) strict;
create index rollout_turns_by_turn on rollout_turns (rollout, turn);
create index rollout_turns_by_end on rollout_turns (rollout, closes_at);
create index rollout_turns_by_owner on rollout_turns (tenant, owner);
`
