/** Lists of one owner's sessions are read in index order, too. The index begins with the owner: see `0006-tenant-indexes.ts`. */
export const listIndexes = `
create index sessions_by_owner on {s}.sessions (hashtextextended(owner, 0), tenant, updated_at desc);
`
