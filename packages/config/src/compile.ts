import type { AnyTool } from '@allium/core'
import type { Entry, Hooks } from './adapter/hooks.ts'
import { type HookName, hookNames } from './contexts.ts'
import type { Code } from './entries/code.ts'
import { compileEntry, type EntryOptions } from './entries/compile-entry.ts'
import { type NamedLayer, namedLayers, type Packs, serverLayers } from './packs.ts'
import type { Env } from './shell/environment.ts'
import { checkShape, type Shape } from './source/check-shape.ts'
import { mistake, type Source } from './source/source.ts'
import { readTools } from './tools.ts'

/** A compiled config. */
export interface Plan {
  readonly shape: Shape
  readonly hooks: Hooks
  readonly layers: readonly NamedLayer[]
  readonly tools: readonly AnyTool[]
}

export interface CompileOptions {
  readonly code: Code
  readonly env: Env
  readonly allowOutside: boolean
  readonly packs: Packs
  /** The default timeout of a hook in milliseconds, if the config has none. */
  readonly timeout: number | undefined
  /** Receives each file of a hook, including unreadable ones. */
  onFile(file: string): void
}

/** The default timeout of hooks and tools, in milliseconds. */
export const defaultTimeout = 120_000

/** @throws AlliumError `config.*` */
export async function compileConfig(source: Source, options: CompileOptions): Promise<Plan> {
  const shape = checkShape(source)
  if (!source.trusted) refuseCode(source, shape)
  const { tools, use, mcp } = shape.agent
  const timeout = options.timeout ?? shape.toolTimeout ?? defaultTimeout
  const hooks = await compileHooks(shape, { ...options, source, timeout })
  const layers = [
    ...(await namedLayers(source, use, options.packs)),
    ...(await serverLayers(source, mcp, options.packs)),
  ]
  return { shape, hooks, layers, tools: await readTools(source, tools, options) }
}

async function compileHooks({ agent }: Shape, use: EntryOptions): Promise<Hooks> {
  const hooks: Partial<Record<HookName, Entry[]>> = {}
  for (const hook of hookNames) {
    const entries = agent.middleware?.[hook] ?? []
    const compiled: Entry[] = []
    // One after the other, because files that are loaded concurrently would each get a copy of their shared modules.
    for (const [i, entry] of entries.entries())
      compiled.push(await compileEntry(entry, ['agent', 'middleware', hook, i], hook, use))
    if (compiled.length > 0) hooks[hook] = compiled
  }
  return hooks as Hooks
}

/** Rejects code in an untrusted config, which may name packs but bring no code, commands or servers. */
function refuseCode(source: Source, { agent }: Shape): void {
  for (const key of ['middleware', 'tools', 'mcp'] as const)
    if (agent[key] !== undefined)
      throw mistake(
        source,
        'config.untrusted',
        ['agent'],
        'is code or refers to code, but this config is not trusted, so it may only name packs under agent.use. If you wrote it, load it by its path, or with { trusted: true }.',
        { key },
      )
}
