import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { OperationsOptions } from '@allium/durable/operations'
import { UsageError } from '../exit-codes.ts'
import { importModule } from '../import-module.ts'
import type { OpenRunStore } from './open-run-store.ts'

type DurableAgent = NonNullable<OperationsOptions['agents']>[number]

export interface LoadedAgent {
  readonly agent: DurableAgent & { dispose(): Promise<void> }
  /** The store that the module exports beside its agent. */
  readonly store: OpenRunStore | undefined
  readonly resolvePrincipal: OperationsOptions['resolvePrincipal']
  /** The queues that the module exports for `durable()`. */
  readonly queues: OperationsOptions['queues']
}

/** Imports the agent of a module as `allium dev` does: an export, or the result of an exported function. @throws UsageError */
export async function agentOfModule(file: string, exportName: string | undefined, cwd: string): Promise<LoadedAgent> {
  const path = resolve(cwd, file)
  if (!existsSync(path)) throw new UsageError(`There is no module ${path}. Check its path.`)
  const module = await importModule(path)
  const exported = exportName === undefined ? (module.default ?? module.agent) : module[exportName]
  const agent = (await (typeof exported === 'function' ? exported() : exported)) as LoadedAgent['agent'] | undefined
  if (typeof agent?.inspect !== 'function')
    throw new UsageError(
      `${path} exports no agent${exportName === undefined ? '' : ` as "${exportName}"`}. Write: export default new Agent({ … }), or name another export with --export.`,
    )
  const { store, resolvePrincipal, queues } = module as Partial<LoadedAgent>
  return { agent, store, resolvePrincipal, queues }
}
