export { type AgentGroup, agentGroup, type GroupSession } from './handoff/agent-group.ts'
export type { GroupAgent, GroupSessionOptions } from './handoff/group-agent.ts'
export type { GroupFinding, GroupInspection } from './handoff/inspect-group.ts'
export { type Handoff, type HandoffOptions, type HandoffTarget, handoff, type ToolsHandoff } from './handoff.ts'
