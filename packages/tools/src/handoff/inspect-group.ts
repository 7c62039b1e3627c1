import type { Agent } from '@allium/core'

/** What `inspect()` returns of an agent, and of a group. */
export interface GroupInspection {
  readonly layers: readonly GroupLayer[]
  readonly tools: readonly { readonly name: string; readonly jsonSchema: unknown }[]
  readonly approvers: 'owner' | 'rule'
}

interface GroupLayer {
  readonly name: string
  readonly state: readonly string[]
  readonly order: { readonly is?: readonly string[] }
  readonly options: Readonly<Record<string, unknown>>
  readonly place: string | undefined
}

/** Returns the layers and tools of all agents. A layer has the name of its agent before its own. */
export function inspectGroup(
  agents: readonly { readonly name: string; inspect(): GroupInspection }[],
): GroupInspection {
  const inspected = agents.map((agent) => ({ agent: agent.name, ...agent.inspect() }))
  const schemas = new Map<string, unknown[]>()
  for (const { tools } of inspected)
    for (const { name, jsonSchema } of tools) schemas.set(name, [...(schemas.get(name) ?? []), jsonSchema])
  return {
    layers: inspected.flatMap(({ agent, layers }) =>
      layers.map((layer) => ({ ...layer, name: `${agent}/${layer.name}` })),
    ),
    tools: [...schemas].map(([name, all]) => ({ name, jsonSchema: all.length === 1 ? all[0] : all })),
    approvers: inspected.some(({ approvers }) => approvers === 'rule') ? 'rule' : 'owner',
  }
}

/** What `check()` of an agent finds. */
export type GroupFinding = ReturnType<Agent['check']>[number]

/** Returns the findings of all agents. A layer has the name of its agent before its own. */
export function checkAgents(agents: readonly { readonly name: string; check(): GroupFinding[] }[]): GroupFinding[] {
  return agents.flatMap((agent) =>
    agent.check().map((finding) => ({ ...finding, layers: finding.layers.map((layer) => `${agent.name}/${layer}`) })),
  )
}
