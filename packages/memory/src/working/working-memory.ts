import { AlliumError } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { SessionStore } from '@allium/store'
import { type Block, blockKey, changesOf, readBlock, type WorkingMemoryChange } from './stored-block.ts'

export interface WorkingMemoryOptions {
  /** The store of the agent: its `sessions`. */
  store: SessionStore
  /** The agent's `sessionGroup`, or its `name`. */
  agent: string
  /** The name of the layer. @default 'memory:working' */
  as?: string | undefined
}

/** A person: a tenant and a user in it. */
interface Person {
  readonly tenant: string
  readonly owner: string
}

/** What an agent remembers of people, for their own pages. Check on your own who may see whom. */
export interface WorkingMemory {
  /** Returns the block of a person, with the number of its changes. It is `{}` with 0 if there is none. */
  read(of: Person): Promise<{ block: Block; version: number }>
  /** Returns the changes of a person's block, newest first. @param limit from 1 to 100 */
  changes(of: Person, limit: number): Promise<WorkingMemoryChange[]>
  /** Deletes the block of a person with all its changes. */
  delete(of: Person): Promise<void>
}

const optionKeys: KeysOf<WorkingMemoryOptions> = { store: true, agent: true, as: true }

/**
 * Reads and deletes the blocks that `memory.working` stores, for example for a page on which people see what is kept about them.
 *
 * @throws AlliumError `options.invalid` for unknown options or a limit out of bounds
 * @example
 * const remembered = workingMemory({ store: store.sessions, agent: 'support' })
 * const { block } = await remembered.read({ tenant: 'acme', owner: 'ann' })
 */
export function workingMemory(options: WorkingMemoryOptions): WorkingMemory {
  checkOptions(options, optionKeys, 'workingMemory()', 'options.invalid')
  const { store, agent, as = 'memory:working' } = options
  return {
    read: (of) => readBlock(store, blockKey(of, agent, as)),
    async changes(of, limit) {
      if (!Number.isInteger(limit) || limit < 1 || limit > 100)
        throw new AlliumError(
          'options.invalid',
          `changes() got the limit ${String(limit)}. Pass a whole number from 1 to 100.`,
        )
      return changesOf(store, blockKey(of, agent, as), limit)
    },
    delete: (of) => store.delete(blockKey(of, agent, as)),
  }
}
