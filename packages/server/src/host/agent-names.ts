import { AlliumError } from '@allium/core'
import type { ServedAgent } from '../options/options.ts'

type Agents = ReadonlyMap<string, ServedAgent>

/**
 * Checks that each agent has a distinct name, because sessions, approvals and runs belong to that name.
 *
 * @throws AlliumError `server.options`
 */
export function checkAgentNames(agents: Agents): void {
  for (const [key, agent] of agents) {
    if (key !== agent.name)
      throw optionsError(
        `The agent under "${key}" is named "${agent.name}". Use the same name: new Agent({ name: '${key}' }).`,
      )
    for (const other of agents.values()) if (other !== agent) checkPair(agent, other)
  }
}

function checkPair(agent: ServedAgent, other: ServedAgent): void {
  const { sessionGroup: group } = agent
  if (group === other.name && other.sessionGroup !== group)
    throw optionsError(
      `The option sessionGroup of the agent "${agent.name}" is the name of "${other.name}", which is not in that group. Choose another name.`,
    )
  const taken = agent.formerNames.find((name) => name === other.name || name === other.sessionNames[0])
  if (taken !== undefined)
    throw optionsError(
      `The option formerNames of the agent "${agent.name}" has "${taken}", under which "${other.name}" stores its sessions. Remove that name.`,
    )
}

/** Returns the name of an agent's tool on /mcp: letters, digits, `_`, `.` and `-`. */
export function toolName(agent: string): string {
  return agent.replace(/[^\w.-]/g, '_').slice(0, 128)
}

/** @throws AlliumError `server.options` if two agents have the same tool name */
export function checkToolNames(agents: Agents): void {
  const known = new Map<string, string>()
  for (const name of agents.keys()) {
    const tool = toolName(name)
    const other = known.get(tool)
    if (other !== undefined)
      throw optionsError(
        `The agents "${other}" and "${name}" have the same tool name on /mcp, "${tool}". Rename one of them, and give it the old name in formerNames.`,
      )
    known.set(tool, name)
  }
}

/** Maps each name under which sessions are stored to the other names that its agents may have used. */
export function otherNames(agents: Agents): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>()
  for (const { sessionNames } of agents.values()) {
    const [first, ...others] = sessionNames as [string, ...string[]]
    names.set(first, [...(names.get(first) ?? []), ...others])
  }
  return names
}

/** Returns whether a run belongs to this agent. */
export function isRunOf({ name, formerNames }: ServedAgent, run: { readonly agent: string } | undefined): boolean {
  return run !== undefined && (run.agent === name || formerNames.includes(run.agent))
}

function optionsError(message: string): AlliumError {
  return new AlliumError('server.options', message)
}
