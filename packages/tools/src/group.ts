export {
  type AgentGroup,
  agentGroup,
  type GroupAgent,
  type GroupSession,
  type GroupSessionOptions,
} from './handoff/agent-group.ts'
export type { GroupInspection } from './handoff/inspect-group.ts'
