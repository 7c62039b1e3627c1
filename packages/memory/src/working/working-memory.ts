import { AlliumError, type Clock, systemClock } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { PassageStore, SessionStore } from '@allium/store'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { BlockSchema } from './block-schema.ts'
import { type BlockEdit, editByPerson } from './edit-by-person.ts'
import { type Block, blockKey, changesOf, readBlock, type WorkingMemoryChange } from './stored-block.ts'

export interface WorkingMemoryOptions {
  /** The store of the agent: its `sessions`. */
  store: SessionStore
  /** The agent's `sessionGroup`, or its `name`. */
  agent: string
  /** The agent's former names, from which a block moves. @default none */
  formerAgents?: readonly string[] | undefined
  /** The name of the layer. @default 'memory:working' */
  as?: string | undefined
  /** The schema of the layer. @default none, and `edit()` is an error */
  schema?: StandardSchemaV1 | undefined
  /** The JSON Schema, for a `schema` that cannot return it. @default the schema's own */
  jsonSchema?: object | undefined
  /** The maximum size of a block as JSON, in UTF-8 bytes. @default 2_000 */
  maxBytes?: number | undefined
  /** Where memory is switched off, so that `edit()` stores nothing then: `store.passages`. @default none */
  passages?: PassageStore | undefined
  /** @default the system clock */
  clock?: Clock | undefined
}

/** A person: a tenant and a user in it. */
export interface Person {
  readonly tenant: string
  readonly owner: string
}

/** What an agent remembers of people, for their own pages. Check on your own who may see whom. */
export interface WorkingMemory {
  /** The JSON Schema of each field; `{}` without a schema. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Returns the block of a person, with the number of its changes. It is `{}` with 0 if there is none. */
  read(of: Person): Promise<{ block: Block; version: number }>
  /** Returns the changes of a person's block, newest first. @param limit from 1 to 100 */
  changes(of: Person, limit: number): Promise<WorkingMemoryChange[]>
  /**
   * Changes the block as the person wishes, if it still has the version that they saw. Fields that are neither set nor removed stay.
   *
   * @throws AlliumError `store.conflict` if the block was changed meanwhile or memory is off; `session.busy` while a turn is changing it;
   * `options.invalid` for fields that do not fit the schema
   */
  edit(of: Person, edit: BlockEdit): Promise<{ block: Block; version: number }>
  /** Deletes the block of a person with all its changes. */
  delete(of: Person): Promise<void>
}

const optionKeys: KeysOf<WorkingMemoryOptions> = {
  store: true,
  agent: true,
  formerAgents: true,
  as: true,
  schema: true,
  jsonSchema: true,
  maxBytes: true,
  passages: true,
  clock: true,
}

/**
 * Reads, changes and deletes the blocks that `memory.working` stores, for example for a page on which people see what is kept about them.
 *
 * @throws AlliumError `options.invalid` for unknown options or a limit out of bounds; `layer.config` for a schema that is none
 * @example
 * const remembered = workingMemory({ store: store.sessions, agent: 'support' })
 * const { block } = await remembered.read({ tenant: 'acme', owner: 'ann' })
 */
export function workingMemory(options: WorkingMemoryOptions): WorkingMemory {
  checkOptions(options, optionKeys, 'workingMemory()', 'options.invalid')
  const {
    store,
    agent,
    formerAgents = [],
    as = 'memory:working',
    jsonSchema,
    maxBytes = 2_000,
    passages,
    clock = systemClock,
  } = options
  const schema = options.schema && new BlockSchema('workingMemory()', options.schema, jsonSchema, maxBytes)
  const keyOf = async (of: Person) => {
    const key = blockKey(of, agent, as)
    const former = formerAgents.map((name) => blockKey(of, name, as).agent)
    if (former.length > 0) await store.rename(key, former)
    return key
  }
  return {
    fields: schema?.fields ?? {},
    read: async (of) => readBlock(store, await keyOf(of)),
    async changes(of, limit) {
      if (!Number.isInteger(limit) || limit < 1 || limit > 100)
        throw new AlliumError(
          'options.invalid',
          `changes() got the limit ${String(limit)}. Pass a whole number from 1 to 100.`,
        )
      return changesOf(store, await keyOf(of), limit)
    },
    async edit(of, edit) {
      if (schema === undefined)
        throw new AlliumError(
          'options.invalid',
          'edit() needs the schema of the block. Pass workingMemory({ schema }).',
        )
      return editByPerson(edit, { store, key: await keyOf(of), schema, passages, clock })
    },
    delete: async (of) => store.delete(await keyOf(of)),
  }
}
