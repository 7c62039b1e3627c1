export { type AgentGroup, agentGroup, type GroupAgent, type GroupSessionOptions } from './handoff/agent-group.ts'
export type { GroupRun } from './handoff/group-run.ts'
export type { GroupSession } from './handoff/group-session.ts'
