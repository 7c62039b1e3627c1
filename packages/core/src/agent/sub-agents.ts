import type { FlowLabels } from '../tool/flow.ts'
import type { ToolGuard } from '../tool/tool-guard.ts'
import type { AgentScope } from './scope/agent-scope.ts'

/** The parts of an agent that delegating agents use. */
interface Known {
  readonly scope: AgentScope
  /** Whether its init() has begun. If not, the caller starts it. */
  readonly begun: () => boolean
  init(): Promise<void>
}

const known = new WeakMap<object, Known>()

/** Registers an agent, so that the tools that refer to it find its parts. */
export function introduce(agent: object, agentInfo: Known): void {
  known.set(agent, agentInfo)
}

/**
 * Checks the tools of all sub-agents against an agent's guards, and records the labels of data that they may bring in.
 * Initializes sub-agents first. A sub-agent whose init() has begun is checked in its current state, because agents may refer
 * to each other.
 */
export async function checkSubAgents(scope: AgentScope, guards: readonly ToolGuard[]): Promise<void> {
  const admitting = guards.filter(({ admits }) => admits !== undefined)
  if (admitting.length > 0) await checkBelow(scope, admitting, [scope])
}

async function checkBelow(scope: AgentScope, guards: readonly ToolGuard[], ancestors: readonly AgentScope[]) {
  for (const { name, agent } of [...scope.tools.all()]) {
    const child = agent === undefined ? undefined : known.get(agent)
    if (child === undefined || ancestors.includes(child.scope)) continue
    if (!child.begun()) await child.init()
    child.scope.tools.checkSeenBy(guards)
    await checkBelow(child.scope, guards, [...ancestors, child.scope])
    scope.tools.brings.set(name, broughtBy(child.scope))
  }
}

/** Returns the combined labels of an agent's tools. */
function broughtBy({ tools }: AgentScope): FlowLabels {
  const flows = [...tools.all()].map(({ name }) => tools.flowOf(name))
  return {
    untrusted: flows.some((flow) => flow === undefined || flow.untrusted === true),
    private: flows.some((flow) => flow?.private === true),
  }
}
