/**
 * Feedback on runs, one row for each person. The number `n` makes the order of lists unique, and the indexes contain it. Lists read the index
 * of their order from the cursor on.
 */
export const feedback = `
create table feedback (
  n integer primary key,
  tenant text not null, owner text not null, agent text not null, session text not null, turn_id text not null,
  author text not null, score real not null, at integer not null, token integer not null, body blob,
  unique (tenant, owner, agent, session, turn_id, author)
) strict;
create index feedback_by_agent on feedback (agent, at);
create index feedback_by_tenant on feedback (tenant, agent, at);
create index feedback_by_author on feedback (author, tenant);
`
