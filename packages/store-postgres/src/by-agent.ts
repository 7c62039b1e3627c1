import { eventsByAgent } from './by-agent/events.ts'
import { runsByAgent } from './by-agent/runs.ts'
import { sessionsByAgent } from './by-agent/sessions.ts'
import { tablesByAgent } from './by-agent/tables.ts'

/** Sessions belong to an agent: it is part of every key. Processes of earlier versions can work with the schema no more. */
export const byAgent = [tablesByAgent, sessionsByAgent, runsByAgent, eventsByAgent].join('\n')
