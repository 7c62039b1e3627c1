/** Feedback on runs, one row for each person. The number `n` makes the order of lists unique. */
export const feedback = `
create table {s}.feedback (
  n bigint generated always as identity primary key,
  tenant text collate "C" not null,
  owner text collate "C" not null,
  agent text collate "C" not null,
  session text collate "C" not null,
  turn_id text collate "C" not null,
  author text collate "C" not null,
  score double precision not null,
  at double precision not null,
  token bigint not null,
  body bytea,
  unique (tenant, owner, agent, session, turn_id, author)
);
create index feedback_by_agent on {s}.feedback (agent, at, n);
create index feedback_by_tenant on {s}.feedback (agent, tenant, at, n);
create index feedback_by_author on {s}.feedback (author, tenant);
`
