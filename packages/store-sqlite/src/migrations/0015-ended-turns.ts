/** Turns by the time of their end, without the open ones, so that a checkpoint does not write this index. */
export const endedTurns = `
drop index turns_by_time;
create index turns_by_time on turns (tenant, ended_at) where ended_at is not null;
`
