import { AlliumError, type Session, type SessionOptions } from '@allium/core'
import { checkOptions, describe, type KeysOf } from '@allium/core/internal'
import { GroupSession } from './group-session.ts'
import { type HandoffAgent, handoffKey } from './targets.ts'

/** An agent of a group, as `new Agent()` creates it. */
export interface GroupAgent extends HandoffAgent {
  session(options?: { id?: string; principal?: never; context?: never }): Session<unknown, unknown>
  inspect(): {
    readonly layers: readonly {
      readonly name: string
      readonly state: readonly string[]
      readonly order: { readonly is?: readonly string[] }
    }[]
  }
}

/** The options of a group's session: those of `agent.session()` that all of its agents take. */
export type GroupSessionOptions = Pick<SessionOptions, 'id' | 'principal' | 'context'>

/** Agents of one `sessionGroup`, whose sessions follow the handoffs. */
export interface AgentGroup {
  readonly agents: readonly GroupAgent[]
  /**
   * Returns a session that runs on its current agent: first on the first agent of the group, later on the agent that it was handed off to.
   *
   * @throws AlliumError `run.options` for an unknown option
   */
  session(options?: GroupSessionOptions): GroupSession
}

const ofSession: KeysOf<GroupSessionOptions> = { id: true, principal: true, context: true }

/**
 * Runs sessions on several agents that hand off to each other with `tools.handoff`. The first agent begins new sessions. If the agents have a
 * store, it must be the same one; otherwise the sessions are kept in this process.
 *
 * @throws AlliumError `agent.options` for agents of different groups, without `tools.handoff`, or with the same name
 * @example
 * const desk = agentGroup([triage, refunds])
 * const chat = desk.session({ id: 'chat-1', principal })
 * const { text } = await chat.run('I want my money back')
 * console.log(chat.agent) // 'refunds'
 */
export function agentGroup(agents: readonly GroupAgent[]): AgentGroup {
  checkGroup(agents)
  const byName = new Map(agents.map((agent) => [agent.name, agent]))
  return {
    agents: [...agents],
    session(options = {}) {
      checkOptions(options, ofSession, 'A session of a group', 'run.options')
      return new GroupSession(byName, options)
    },
  }
}

function checkGroup(agents: readonly GroupAgent[]): void {
  if (!Array.isArray(agents) || agents.length === 0)
    throw invalid(`agentGroup() takes a list of agents, not ${describe(agents)}.`)
  const [{ name: first, sessionGroup }] = agents as readonly [GroupAgent]
  const names = new Set<string>()
  for (const agent of agents as readonly GroupAgent[]) {
    const { name } = agent
    if (names.has(name)) throw invalid(`agentGroup() got two agents named "${name}". Rename one of them.`)
    names.add(name)
    if (agent.sessionGroup === undefined || agent.sessionGroup !== sessionGroup)
      throw invalid(
        `The agents "${first}" and "${name}" are not in one session group. Give both the same option sessionGroup.`,
      )
    if (!agent.inspect().layers.some(({ state }) => state.includes(handoffKey)))
      throw invalid(`The agent "${name}" of the group has no layer tools.handoff. Add tools.handoff({ to: [] }) to it.`)
  }
}

function invalid(message: string): AlliumError {
  return new AlliumError('agent.options', message)
}
