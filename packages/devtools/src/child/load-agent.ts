import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ServedAgent } from '@allium/server'
import type { ReadOnlyStore } from '@allium/server/inspect'
import type { AgentStore } from '@allium/store'
import type { SqliteOptions } from '@allium/store-sqlite'

/** An agent that the server can serve, before its first run. */
export type DevAgent = ServedAgent & {
  init(): Promise<void>
  check(): readonly unknown[]
}

/** The parts of an agent's module that the inspector uses. */
export interface AgentModule {
  readonly agent: DevAgent
  /** The store that the agent's own `memory.persist` layer uses. */
  readonly store: AgentStore | undefined
  /** The principal of requests that name none. */
  readonly principal: unknown
  /** Encrypts the inspector's own store. */
  readonly encrypt: SqliteOptions['encrypt']
  /** The destination of a record of each look at a session of `store`. */
  readonly audit: ReadOnlyStore['audit'] | undefined
  readonly auditSecret: string | Uint8Array | undefined
}

/**
 * Imports a module and returns its agent: the named export, or the result of an exported function without parameters. A YAML or JSON
 * file is a config of `allium/config`.
 */
export async function loadAgent(file: string, exportName: string): Promise<AgentModule> {
  if (['.yml', '.yaml', '.json'].includes(extname(file))) {
    if (exportName === 'default') return configAgent(file)
    throw new Error(`${file} is a config, which has one agent and no export "${exportName}".`)
  }
  const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>
  const found = module[exportName] ?? (exportName === 'default' ? module.agent : undefined)
  const agent = typeof found === 'function' && found.length === 0 ? await found() : await found
  if (!isAgent(agent)) throw new Error(noAgent(file, exportName, Object.keys(module)))
  const { store, encrypt, principal, audit, auditSecret } = module as Partial<AgentModule>
  return { agent, store, encrypt, principal, audit, auditSecret }
}

async function configAgent(file: string): Promise<AgentModule> {
  const { loadConfig } = await import('allium/config')
  return {
    agent: (await loadConfig(file)) as unknown as DevAgent,
    store: undefined,
    encrypt: undefined,
    principal: undefined,
    audit: undefined,
    auditSecret: undefined,
  }
}

function isAgent(value: unknown): value is DevAgent {
  const agent = value as Partial<Record<keyof DevAgent, unknown>> | null | undefined
  return ['session', 'inspect', 'use'].every((name) => typeof agent?.[name as keyof DevAgent] === 'function')
}

function noAgent(file: string, exportName: string, names: readonly string[]): string {
  const exported = names.length === 0 ? 'It exports nothing.' : `It exports ${names.join(', ')}.`
  return `${file} has no agent as its ${exportName === 'default' ? 'default export' : `export "${exportName}"`}. ${exported} Write: export default new Agent({ … }), or name another export with --export.`
}
