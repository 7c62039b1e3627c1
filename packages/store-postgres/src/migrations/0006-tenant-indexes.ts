/**
 * At most one index of a table begins with the tenant. With two, the planner may use either one while the table is small and keep that
 * plan in the functions, and then each turn reads all rows of its tenant.
 */
export const tenantIndexes = `
drop index {s}.sessions_by_time;
create index sessions_by_time on {s}.sessions (hashtextextended(tenant, 0), updated_at desc);

drop index {s}.turns_by_time, {s}.turns_by_id;
create index turns_by_time on {s}.turns (hashtextextended(tenant, 0), ended_at);
create index turns_by_id on {s}.turns (hashtextextended(turn_id, 0), session, owner, tenant);

drop index {s}.waiting_by_tenant, {s}.waiting_by_token;
create index waiting_by_tenant on {s}.waiting (hashtextextended(tenant, 0), since);
create index waiting_by_token on {s}.waiting (token, tenant);

drop index {s}.runs_by_tenant, {s}.runs_by_session;
create index runs_by_tenant on {s}.runs (hashtextextended(tenant, 0), n);
create index runs_by_session on {s}.runs (session, owner, tenant);
`
