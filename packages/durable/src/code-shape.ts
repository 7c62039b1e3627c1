import { digestOf } from '@allium/core'
import type { DurableAgent } from './options.ts'

/** The structure of the code that a run was started with, stored with its task. A digest of each layer and tool names what has changed. */
export interface CodeShape {
  /** The layers in their order, each with a digest of its scopes, order, state keys and tools. */
  readonly layers: readonly (readonly [name: string, digest: string])[]
  /** Digests of the schemas by tool name. A changed description or setting does not stop a run. */
  readonly tools: Readonly<Record<string, string>>
}

export async function shapeOf(agent: DurableAgent): Promise<CodeShape> {
  const { layers, tools } = agent.inspect()
  const entry = async ({ name, ...declared }: { name: string; jsonSchema?: unknown }) =>
    [name, await shortDigestOf(declared)] as const
  return {
    layers: await Promise.all(layers.map(entry)),
    tools: Object.fromEntries(await Promise.all(tools.map(({ name, jsonSchema }) => entry({ name, jsonSchema })))),
  }
}

/** Collisions only hide a change from this check, so a part of the digest is enough. */
async function shortDigestOf(value: unknown): Promise<string> {
  return (await digestOf(value)).slice(0, 12)
}

/** Returns how the structure of the code differs from the one that the run was started with, as clauses of a sentence. */
export function shapeDifferences(started: CodeShape, now: CodeShape): string[] {
  const [layersBefore, layersNow] = [started.layers, now.layers].map((layers) => Object.fromEntries(layers))
  const differences = [
    ...changes('layer', layersBefore ?? {}, layersNow ?? {}),
    ...changes('tool', started.tools, now.tools),
  ]
  if (differences.length > 0) return differences
  const [orderBefore, orderNow] = [started.layers, now.layers].map((layers) => layers.map(([name]) => name).join(', '))
  return orderBefore === orderNow ? [] : [`the order of the layers changed from ${orderBefore} to ${orderNow}`]
}

function changes(kind: string, before: Readonly<Record<string, string>>, now: Readonly<Record<string, string>>) {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].flatMap((name) => {
    if (!Object.hasOwn(before, name)) return [`the ${kind} "${name}" was added`]
    if (!Object.hasOwn(now, name)) return [`the ${kind} "${name}" was removed`]
    return before[name] === now[name] ? [] : [`the ${kind} "${name}" has changed`]
  })
}
