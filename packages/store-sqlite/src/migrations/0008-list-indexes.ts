/** Lists are read in index order from their cursor on, for a tenant and for one of its owners. */
export const listIndexes = `
drop index sessions_by_time;
create index sessions_by_time on sessions (tenant, updated_at desc, owner, agent, id);
create index sessions_by_owner on sessions (tenant, owner, updated_at desc, agent, id);
`
