import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { OperationsStore } from '@allium/durable/operations'
import type { AgentStore } from 'allium'
import type { CommandContext } from '../command-context.ts'
import { UsageError } from '../exit-codes.ts'
import { importOptional } from '../import-optional.ts'

export type OpenRunStore = OperationsStore &
  Partial<Pick<AgentStore, 'sessions'>> &
  Pick<AgentStore, 'recordings' | 'feedback' | 'rollouts' | 'passages'> & { close(): unknown }

/**
 * Opens the store of `--store`, else of `ALLIUM_STORE`: a Postgres URL, a SQLite file, or a module that exports a store, for one with
 * encryption. If neither is set, returns the store that an agent's module exports. Never creates a file or migrates a database. @throws UsageError
 */
export async function openRunStore(
  option: string | undefined,
  { env, cwd }: CommandContext,
  exported?: OpenRunStore,
): Promise<OpenRunStore> {
  const location = option ?? env.ALLIUM_STORE ?? ''
  if (location === '' && exported?.operations !== undefined) return exported
  if (location === '')
    throw new UsageError('Name the store with --store or ALLIUM_STORE: a file, postgres://…, or a module.')
  if (/^postgres(ql)?:\/\//.test(location))
    return (await importOptional('@allium/store-postgres', () => import('@allium/store-postgres'))).postgres({
      ...{ url: location, migrate: 'check' },
    })
  const path = resolve(cwd(), location)
  if (!existsSync(path)) throw new UsageError(`There is no store ${path}. Check --store or ALLIUM_STORE.`)
  if (/\.[cm]?[jt]s$/.test(path)) return storeOfModule(path)
  return (await importOptional('@allium/store-sqlite', () => import('@allium/store-sqlite'))).sqlite(path)
}

async function storeOfModule(path: string): Promise<OpenRunStore> {
  const module = (await import(pathToFileURL(path).href)) as { default?: unknown; store?: unknown }
  const store = (module.store ?? module.default) as Partial<OpenRunStore> | undefined
  if (store?.operations === undefined)
    throw new UsageError(`${path} exports no store. Write: export const store = postgres({ … }), or sqlite(…).`)
  return { ...(store as OpenRunStore), close: () => store.close?.() }
}
