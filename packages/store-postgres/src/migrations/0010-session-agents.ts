import { sessionAgentEvents } from './0010-session-agents-events.ts'
import { sessionAgentRuns } from './0010-session-agents-runs.ts'
import { sessionAgentFunctions } from './0010-session-agents-sessions.ts'
import { sessionAgentTables } from './0010-session-agents-tables.ts'

/** Sessions belong to an agent, which is part of every key. Processes of earlier versions cannot use this schema. */
export const sessionAgents = [sessionAgentTables, sessionAgentFunctions, sessionAgentRuns, sessionAgentEvents].join(
  '\n',
)
