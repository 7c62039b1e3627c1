import { resolve } from 'node:path'
import type { AgentStore } from 'allium'
import { installed } from './installed.ts'
import type { Surroundings } from './surroundings.ts'

/** A store that the command has opened, and closes. */
export type OpenStore = AgentStore & { close(): unknown }

/** The store of `--store`, else of `ALLIUM_STORE`, where a URL with a password is not seen by others; undefined where neither says one. @throws UsageError */
export async function openStore(given: string | undefined, { env, cwd }: Surroundings): Promise<OpenStore | undefined> {
  const where = given ?? env.ALLIUM_STORE
  if (where === undefined || where === '') return undefined
  if (/^postgres(ql)?:\/\//.test(where))
    return (await installed('postgres', () => import('@allium/store-postgres'))).postgres({ url: where })
  return (await installed('sqlite', () => import('@allium/store-sqlite'))).sqlite(resolve(cwd(), where))
}
