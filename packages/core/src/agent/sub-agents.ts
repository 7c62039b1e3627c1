import type { AgentScope } from '../rings/agent/agent-scope.ts'
import type { FlowLabels } from '../tool/flow.ts'
import type { ToolGuard } from '../tool/tool-guard.ts'

/** An agent as others know it that hand work to it. */
interface Known {
  readonly scope: AgentScope
  /** Whether it has begun; one that has not is brought up. */
  readonly begun: () => boolean
  init(): Promise<void>
}

const known = new WeakMap<object, Known>()

/** Lets an agent be found by the tools that name it. */
export function introduce(agent: object, agentInfo: Known): void {
  known.set(agent, agentInfo)
}

/**
 * Asks the guards of an agent about the tools of the agents below it, which are brought up for that, and notes what these
 * may bring in. One that is on its way up already is asked about as it stands: agents may name each other.
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

/** What the tools of an agent may bring in, all together. */
function broughtBy({ tools }: AgentScope): FlowLabels {
  const flows = [...tools.all()].map(({ name }) => tools.flowOf(name))
  return {
    untrusted: flows.some((flow) => flow === undefined || flow.untrusted === true),
    private: flows.some((flow) => flow?.private === true),
  }
}
