/**
 * The index of turns by the time of their end has no open turns, so that a checkpoint does not write it. An erasure finds the reservations of
 * an owner among the unsettled ones of runs, so they need no index by owner.
 */
export const smallerIndexes = `
drop index turns_by_time;
create index turns_by_time on turns (tenant, ended_at) where ended_at is not null;
drop index holds_by_owner;
`
