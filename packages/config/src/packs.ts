import { isAlliumError, messageOf, type Tool, type Usable } from '@allium/core'
import { nearestFirst, unknownName } from '@allium/core/internal'
import type { z } from 'zod'
import type { McpServer } from './define-config.ts'
import { issueMistake } from './source/check-shape.ts'
import { mistake, type Path, type Source } from './source/source.ts'

/** A layer that a config may name. */
export interface Pack {
  /** Creates the layer. Paths in its options are relative to `root`, the folder of the config. */
  create(options: never, location: { root: string }): Usable | Promise<Usable>
  /** Any Standard Schema for the options; without one the pack has no options. */
  options?: NonNullable<Tool['schema']>
}

/** The packs by name, such as `guard.budget`. */
export type Packs = Readonly<Record<string, Pack>>

/** A layer of `agent.use`, and its path in the config. */
export interface NamedLayer {
  readonly layer: Usable
  readonly path: Path
}

/** Returns the layers of `agent.use`. @throws AlliumError `config.invalid`, `config.untrusted` */
export function namedLayers(source: Source, use: readonly unknown[] = [], packs: Packs): Promise<NamedLayer[]> {
  return Promise.all(
    use.map(async (entry, i) => {
      const path = ['agent', 'use', i]
      return { layer: await layerOf(source, entry, path, packs), path }
    }),
  )
}

/** Returns the layers that connect MCP servers, from the pack `tools.mcp`. @throws AlliumError `config.unsupported` */
export function serverLayers(
  source: Source,
  servers: Readonly<Record<string, McpServer>> = {},
  packs: Packs,
): Promise<NamedLayer[]> {
  const connected = Object.entries(servers).map(async ([name, server]) => {
    const path = ['agent', 'mcp', name]
    const pack = Object.hasOwn(packs, 'tools.mcp') ? packs['tools.mcp'] : undefined
    if (pack === undefined)
      throw mistake(
        source,
        'config.unsupported',
        path,
        'needs the pack tools.mcp, which this program does not include. Use allium/config, or pass the pack to createLoader().',
      )
    return { layer: await create(source, pack, { name, ...server }, path), path }
  })
  return Promise.all(connected)
}

async function layerOf(source: Source, entry: unknown, path: Path, packs: Packs): Promise<Usable> {
  const named = nameOf(entry)
  if (named === undefined) {
    if (source.trusted && !source.isData && isLayer(entry)) return entry as Usable
    throw mistake(source, 'config.invalid', path, `is not a pack. ${entryExamples(entry, packs)}`)
  }
  const { name, options } = named
  const pack = Object.hasOwn(packs, name) ? packs[name] : undefined
  if (pack === undefined) {
    const packNames = Object.keys(packs).sort()
    const expected = `one of ${nearestFirst(name, packNames).join(', ')}`
    throw mistake(
      source,
      'config.invalid',
      path,
      `names the pack "${name}", which is not known. ${unknownName(name, packNames)}`,
      { expected },
    )
  }
  const at = typeof entry === 'string' ? path : [...path, name]
  return create(source, pack, options, at)
}

async function create(source: Source, pack: Pack, options: unknown, path: Path): Promise<Usable> {
  const checked = pack.options === undefined ? undefined : checkOptions(source, pack.options, options ?? {}, path)
  if (pack.options === undefined && options !== undefined && options !== null)
    throw mistake(source, 'config.invalid', path, 'has options, but this pack takes none. Remove them.')
  try {
    return await pack.create(checked as never, { root: source.root })
  } catch (cause) {
    throw atSource(source, path, cause)
  }
}

/** Adds the position in the config to an error of a pack. */
export function atSource(source: Source, path: Path, cause: unknown): unknown {
  if (!isAlliumError(cause)) return cause
  const message = messageOf(cause)
  const redacted = source.conceal(message)
  return mistake(source, 'config.invalid', path, `is invalid: ${redacted}`, redacted === message ? { cause } : {})
}

function checkOptions(source: Source, schema: NonNullable<Pack['options']>, options: unknown, path: Path): unknown {
  const result = schema['~standard'].validate(options)
  if (result instanceof Promise)
    throw mistake(source, 'config.invalid', path, 'has a schema that is asynchronous. Expected a synchronous one.')
  const issue = result.issues?.[0]
  if (issue === undefined) return (result as { value: unknown }).value
  if ('_zod' in schema)
    throw issueMistake(
      source,
      issue as unknown as z.core.$ZodIssue,
      path,
      options,
      schema as unknown as z.core.$ZodType,
    )
  const inner = (issue.path ?? []).map((key) => (typeof key === 'object' ? key.key : key)) as Path
  throw mistake(source, 'config.invalid', [...path, ...inner], `does not fit: ${issue.message}`)
}

function nameOf(entry: unknown): { name: string; options: unknown } | undefined {
  if (typeof entry === 'string') return { name: entry, options: undefined }
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return undefined
  const [[name, options] = [], otherEntries] = Object.entries(entry)
  return otherEntries === undefined && name?.includes('.') ? { name, options } : undefined
}

function isLayer(entry: unknown): boolean {
  return typeof entry === 'function' || (typeof entry === 'object' && entry !== null)
}

function entryExamples(entry: unknown, packs: Packs): string {
  const { name, ...options } = (Array.isArray(entry) ? {} : entry) as Record<string, unknown>
  if (typeof name !== 'string' || !Object.hasOwn(packs, name))
    return 'Expected a name such as guard.budget, or a map of one name to its options.'
  const [first] = Object.keys(options)
  return `Write "${name}${first === undefined ? '' : `: { ${first}: … }`}", with the name as the key and its options below it.`
}
