/** The row of a session. */
export const sessionMatches = 'tenant = _tenant and owner = _owner and agent = _session_agent and id = _session'

/** The row of the session of a run `r`. */
export const sessionOfRun = 'tenant = _tenant and owner = r.owner and agent = r.session_agent and id = r.session'

/** The rows of a session in other tables. */
export const ofSession = 'tenant = _tenant and owner = _owner and agent = _session_agent and session = _session'

/** A run and its session. */
export const sessionJoin =
  's.tenant = r.tenant and s.owner = r.owner and s.agent = r.session_agent and s.id = r.session'

/** A run and its session, if no other run or process has the session at `_now`. */
export const freeSession = `{s}.sessions s on ${sessionJoin} and (s.run is null or s.run = r.run) and s.held_until <= _now`

/** The waiting runs of one agent version in one queue. */
export const laneMatches = `hashtextextended(r.queue, hashtextextended(r.version, hashtextextended(r.agent, 0)))
      = hashtextextended(_queue, hashtextextended(_version, hashtextextended(_agent, 0)))
    and r.queue = _queue and r.version = _version and r.agent = _agent and r.status = 'queued' and r.rank is not null`
