/** Lists are read in the order of an index, from the place of their cursor on: of a tenant, and of one owner in it. */
export const listIndexes = `
drop index sessions_by_time;
create index sessions_by_time on sessions (tenant, updated_at desc, owner, agent, id);
create index sessions_by_owner on sessions (tenant, owner, updated_at desc, agent, id);
`
