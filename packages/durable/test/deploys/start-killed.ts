import { once } from 'node:events'
import type { Children } from '../../../store-postgres/test/chaos/children.ts'
import type { open } from '../kills/life.ts'
import type { DeployCase } from './cases.ts'
import type { Start } from './start-here.ts'

/** The case of a process that kills itself. */
export interface Job extends DeployCase {
  readonly where: Parameters<typeof open>[0]
  readonly name: string
}

/** Starts the run in a child that is killed by SIGKILL. Its lease expires while the next process polls. */
export function startKilled(children: Children, where: Job['where']): Start {
  return async ({ store, name }, of) => {
    const child = await children.take({ ...of, where, name } satisfies Job)
    const [code, signal] = await once(child, 'exit')
    const { items } = await store.runs.list({ tenant: 'acme', agents: [name], limit: 1 })
    if (items[0] === undefined || (signal !== 'SIGKILL' && code !== 0))
      throw new Error(`The child ended with ${code ?? signal}, and ${items.length} runs.`)
    return { run: items[0].run, isLost: signal === 'SIGKILL' }
  }
}
