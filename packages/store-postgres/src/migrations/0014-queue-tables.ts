/**
 * Runs wait in queues. `rank` orders the waiting runs of a tenant; it is null until a run is due. `queue_turns` has the last claim of each
 * tenant, so that tenants take turns. Losing a row of it is harmless. `queue_starts` has the recent starts of queues with a rate limit. Names
 * are hashed where several of them would be too long for an index.
 */
export const queueTables = `
alter table {s}.runs
  add column queue text collate "C" not null default 'default',
  add column priority integer not null default 0,
  add column rank double precision;

drop index {s}.runs_due;
create index runs_due on {s}.runs (agent, hashtextextended(version, 0), run_at) where not told;
create index runs_waiting on {s}.runs (hashtextextended(queue, hashtextextended(version, hashtextextended(agent, 0))), tenant, rank, n)
  where status = 'queued' and rank is not null;
create index runs_scheduled on {s}.runs (agent, run_at) where status = 'queued' and rank is null;
create index runs_running on {s}.runs (agent, hashtextextended(queue, 0), hashtextextended(tenant, 0)) where status = 'running';
create index runs_stopped on {s}.runs (agent) where status = 'queued' and stop is not null;
create index runs_unreported on {s}.runs (agent, updated_at) where not told and status not in ('queued', 'running');

create table {s}.queue_turns (
  queue bigint not null,
  tenant text collate "C" not null,
  at double precision not null,
  primary key (queue, tenant)
);
create index queue_turns_by_time on {s}.queue_turns (queue, at);
create index queue_turns_by_age on {s}.queue_turns (at);

create table {s}.queue_starts (
  queue bigint not null,
  tenant text collate "C" not null,
  at double precision not null,
  expires_at double precision not null
);
create index queue_starts_by_time on {s}.queue_starts (queue, at);
create index queue_starts_by_tenant on {s}.queue_starts (queue, tenant, at);
create index queue_starts_by_expiry on {s}.queue_starts (expires_at);
`

const sessionJoin = 's.tenant = r.tenant and s.owner = r.owner and s.agent = r.session_agent and s.id = r.session'

/** A run and its session, if no other run or process has the session at `_now`. */
export const freeSession = `{s}.sessions s on ${sessionJoin} and (s.run is null or s.run = r.run) and s.held_until <= _now`

/** The waiting runs of one agent version in one queue. */
export const laneMatches = `hashtextextended(r.queue, hashtextextended(r.version, hashtextextended(r.agent, 0)))
      = hashtextextended(_queue, hashtextextended(_version, hashtextextended(_agent, 0)))
    and r.queue = _queue and r.version = _version and r.agent = _agent and r.status = 'queued' and r.rank is not null`
