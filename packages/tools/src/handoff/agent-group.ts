import { AlliumError, type DisplayTransform, type Middleware, type Session, type SessionKey } from '@allium/core'
import { checkOptions, describe, type KeysOf } from '@allium/core/internal'
import type { GroupAgent, GroupSessionOptions } from './group-agent.ts'
import { checkAgents, type GroupFinding, type GroupInspection, inspectGroup } from './inspect-group.ts'
import { LiveGroupRuns } from './live-runs.ts'
import { SessionOfAgents } from './session-of-agents.ts'
import { handoffKey } from './targets.ts'

/** A session that runs on its current agent. A run answers with the agent that the session was handed off to. */
export interface GroupSession extends Session<unknown, unknown> {
  /** The name of the agent that the next turn runs on. A stored session knows it after `open()` or its first run. */
  readonly agent: string
}

/** Agents of one `sessionGroup`, as one agent for `server()` and `durable()`. Its name is that of the group. */
export interface AgentGroup<Store = unknown> {
  readonly name: string
  readonly agents: readonly GroupAgent[]
  readonly formerNames: readonly string[]
  readonly sessionNames: readonly string[]
  readonly version: string | undefined
  readonly store: Store | undefined
  init(): Promise<void>
  /**
   * Returns a session that runs on its current agent: first on the first agent of the group, later on the agent that it was handed off to.
   *
   * @throws AlliumError `run.options` for an unknown option
   */
  session(options?: GroupSessionOptions): GroupSession
  displayFor(key: SessionKey): Promise<DisplayTransform>
  /** Adds a layer to each agent. */
  use(layer: Middleware): AgentGroup<Store>
  /** Returns the layers and tools of all agents. */
  inspect(): GroupInspection
  /** Returns the findings of `check()` of all agents. A layer has the name of its agent before its own. */
  check(): GroupFinding[]
  dispose(options?: { timeout?: number }): Promise<void>
}

const ofSession: KeysOf<GroupSessionOptions> = { id: true, principal: true, context: true }

/**
 * Runs sessions on several agents that hand off to each other with `handoff`. The first agent begins new sessions. If the agents have a
 * store, it must be the same one; otherwise the sessions are kept in this process.
 *
 * @throws AlliumError `agent.options` for agents of different groups, without `handoff`, with the same name, or with different stores
 * @example
 * const desk = agentGroup([triage, refunds])
 * const chat = desk.session({ id: 'chat-1', principal })
 * const { text } = await chat.run('I want my money back')
 * console.log(chat.agent) // 'refunds'
 */
export function agentGroup<Store = undefined>(
  agents: readonly (GroupAgent & { readonly store?: Store })[],
): AgentGroup<Store> {
  const [first] = checkGroup(agents)
  const byName = new Map(agents.map((agent) => [agent.name, agent]))
  const runs = new LiveGroupRuns()
  const name = first.sessionGroup as string
  const group: AgentGroup<Store> = {
    name,
    agents: [...agents],
    formerNames: [],
    sessionNames: [...new Set([name, ...agents.flatMap(({ sessionNames }) => sessionNames)])],
    version: versionOf(agents),
    store: first.store,
    async init() {
      for (const agent of agents) await agent.init()
    },
    session(options = {}) {
      checkOptions(options, ofSession, 'A session of a group', 'run.options')
      // It has the members of a session, which is a class with private fields.
      return new SessionOfAgents(byName, runs, options) as unknown as GroupSession
    },
    async displayFor(key) {
      const shown = await Promise.all(agents.map((agent) => agent.displayFor(key)))
      return (text) => shown.reduce((current, show) => show(current), text)
    },
    use(layer) {
      for (const agent of agents) agent.use(layer)
      return group
    },
    inspect: () => inspectGroup(agents),
    check: () => checkAgents(agents),
    async dispose(options) {
      await Promise.all(agents.map((agent) => agent.dispose(options)))
    },
  }
  return group
}

/** Returns the version of all agents; undefined if one has none. */
function versionOf(agents: readonly GroupAgent[]): string | undefined {
  const versions = [...new Set(agents.map(({ version }) => version))]
  return versions.includes(undefined) ? undefined : versions.join('+')
}

function checkGroup<A extends GroupAgent>(agents: readonly A[]): readonly [A] {
  if (!Array.isArray(agents) || agents.length === 0)
    throw invalid(`agentGroup() takes a list of agents, not ${describe(agents)}.`)
  const [first] = agents as readonly A[] as readonly [A]
  const names = new Set<string>()
  for (const agent of agents as readonly A[]) {
    const { name } = agent
    if (names.has(name)) throw invalid(`agentGroup() got two agents named "${name}". Rename one of them.`)
    names.add(name)
    if (agent.sessionGroup === undefined || agent.sessionGroup !== first.sessionGroup)
      throw invalid(
        `The agents "${first.name}" and "${name}" are not in one session group. Give both the same option sessionGroup.`,
      )
    if (agent.store !== first.store)
      throw invalid(`The agents "${first.name}" and "${name}" have different stores. Give both the same store.`)
    if (!agent.inspect().layers.some(({ state }) => state.includes(handoffKey)))
      throw invalid(`The agent "${name}" of the group has no layer handoff. Add handoff({ to: [] }) to it.`)
  }
  return [first]
}

function invalid(message: string): AlliumError {
  return new AlliumError('agent.options', message)
}
