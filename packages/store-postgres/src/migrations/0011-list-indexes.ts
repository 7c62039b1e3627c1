/** The sessions of one owner are read in the order of an index, too. It begins with the owner: see `one-way-in.ts`. */
export const listIndexes = `
create index sessions_by_owner on {s}.sessions (hashtextextended(owner, 0), tenant, updated_at desc);
`
