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
