/** Audit records have unique keys; those that older processes write have none. */
export const auditKeys = `
alter table {s}.audit add column key text collate "C";
create unique index audit_by_key on {s}.audit (tenant, key) where key is not null;
`
