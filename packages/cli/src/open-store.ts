import { resolve } from 'node:path'
import type { AgentStore } from 'allium'
import type { CommandContext } from './command-context.ts'
import { importOptional } from './import-optional.ts'

/** A store that the command opened and closes. */
export type OpenStore = AgentStore & { close(): unknown }

/**
 * Opens the store of `--store`, else of `ALLIUM_STORE`, which hides a URL with a password from other users. Returns undefined if neither is
 * set. @throws UsageError
 */
export async function openStore(
  option: string | undefined,
  { env, cwd }: CommandContext,
): Promise<OpenStore | undefined> {
  const location = option ?? env.ALLIUM_STORE
  if (location === undefined || location === '') return undefined
  if (/^postgres(ql)?:\/\//.test(location))
    return (await importOptional('@allium/store-postgres', () => import('@allium/store-postgres'))).postgres({
      url: location,
    })
  return (await importOptional('@allium/store-sqlite', () => import('@allium/store-sqlite'))).sqlite(
    resolve(cwd(), location),
  )
}
