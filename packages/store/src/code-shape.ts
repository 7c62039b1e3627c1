import { AlliumError, type Journal } from '@allium/core'
import { digestOf } from '@allium/core/internal'

/** An agent as `new Agent()` creates it. */
export interface InspectedAgent {
  inspect(): {
    layers: readonly {
      name: string
      options: Readonly<Record<string, unknown>>
      place: string | undefined
    }[]
    tools: readonly { name: string; jsonSchema: unknown }[]
  }
}

/** The structure of the code that a run was started with, stored with the run. A digest of each layer and tool names what has changed. */
export interface CodeShape {
  /** The layers in their order, each with a digest of its scopes, order, state keys and tools. */
  readonly layers: readonly (readonly [name: string, digest: string])[]
  /** Digests of the schemas by tool name. A changed description or setting does not stop a run. */
  readonly tools: Readonly<Record<string, string>>
  /** The declared options of the layers, each as JSON, or as a digest if that is long. By layer. */
  readonly options: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** How the code differs from the one that a run was started with, as clauses of a sentence. */
export interface CodeDifferences {
  /** These stop a run with recorded steps. */
  readonly structure: readonly string[]
  /** With these, it continues, and reports them. */
  readonly options: readonly string[]
}

/** A shape as stores keep it. */
export interface StoredShape {
  readonly shape: CodeShape
  readonly digest: string
  readonly body: string
}

export async function storedShapeOf(agent: InspectedAgent): Promise<StoredShape> {
  const shape = await shapeOf(agent)
  return { shape, digest: await digestOf(shape), body: JSON.stringify(shape) }
}

/** Returns the structure of an agent's code. Call it after `init()`, when all tools are registered. */
export async function shapeOf(agent: InspectedAgent): Promise<CodeShape> {
  const { layers, tools } = agent.inspect()
  const entry = async ({ name, ...declared }: { name: string; jsonSchema?: unknown }) =>
    [name, await shortDigestOf(declared)] as const
  const structures = layers.map(({ options: _, place: __, ...structure }) => structure)
  const options = layers.map(async (layer) => [layer.name, await optionTexts(layer.options)] as const)
  return {
    layers: await Promise.all(structures.map(entry)),
    tools: Object.fromEntries(await Promise.all(tools.map(({ name, jsonSchema }) => entry({ name, jsonSchema })))),
    options: Object.fromEntries(await Promise.all(options)),
  }
}

/** Longest JSON of an option that is stored as it is. */
const maxOptionText = 80

async function optionTexts(options: Readonly<Record<string, unknown>>): Promise<Record<string, string>> {
  const given = Object.entries(options).filter(([, value]) => value !== undefined && typeof value !== 'function')
  const texts = given.map(async ([name, value]) => {
    const text = JSON.stringify(value) ?? 'undefined'
    return [name, text.length <= maxOptionText ? text : await shortDigestOf(value)] as const
  })
  return Object.fromEntries(await Promise.all(texts))
}

/** Collisions only hide a change from this check, so a part of the digest is enough. */
async function shortDigestOf(value: unknown): Promise<string> {
  return (await digestOf(value)).slice(0, 12)
}

/**
 * Records the structure of the code as a step of a run, which is the first one. In a later process with other layers, order, tools or
 * schemas, it throws before any other step.
 *
 * @throws AlliumError `journal.diverged` with the differences
 */
export async function checkRecordedCode(agent: InspectedAgent, journal: Journal, turnId: string): Promise<void> {
  const now = await shapeOf(agent)
  const step = `${turnId}:code`
  const recorded = await journal.step(
    step,
    () => now,
    () => {},
  )
  const differs = structureDifferences(recorded, now)
  if (differs.length > 0)
    throw new AlliumError(
      'journal.diverged',
      `The run was recorded by other code: ${differs.join('; ')}. Nothing was executed. Continue it with the code that began it.`,
      { details: { step, differs } },
    )
}

export function codeDifferences(started: CodeShape, now: CodeShape): CodeDifferences {
  return { structure: structureDifferences(started, now), options: optionDifferences(started.options, now.options) }
}

function structureDifferences(started: CodeShape, now: CodeShape): string[] {
  const [layersBefore, layersNow] = [started.layers, now.layers].map((layers) => Object.fromEntries(layers))
  const differences = [
    ...changes('layer', layersBefore ?? {}, layersNow ?? {}),
    ...changes('tool', started.tools, now.tools),
  ]
  if (differences.length > 0) return differences
  const [orderBefore, orderNow] = [started.layers, now.layers].map((layers) => layers.map(([name]) => name).join(', '))
  return orderBefore === orderNow ? [] : [`the order of the layers changed from ${orderBefore} to ${orderNow}`]
}

function optionDifferences(before: CodeShape['options'], now: CodeShape['options']): string[] {
  return Object.keys(before).flatMap((layer) => {
    const [was, is] = [before[layer] ?? {}, now[layer] ?? {}]
    const changed = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter((name) => was[name] !== is[name])
    return changed.map(
      (name) =>
        `the option "${name}" of the layer "${layer}" changed from ${was[name] ?? 'none'} to ${is[name] ?? 'none'}`,
    )
  })
}

function changes(kind: string, before: Readonly<Record<string, string>>, now: Readonly<Record<string, string>>) {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].flatMap((name) => {
    if (!Object.hasOwn(before, name)) return [`the ${kind} "${name}" was added`]
    if (!Object.hasOwn(now, name)) return [`the ${kind} "${name}" was removed`]
    return before[name] === now[name] ? [] : [`the ${kind} "${name}" has changed`]
  })
}
