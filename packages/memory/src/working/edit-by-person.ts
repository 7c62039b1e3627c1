import { AlliumError, type Clock, type SessionKey } from '@allium/core'
import type { SessionStore } from '@allium/store'
import type { BlockPatch, BlockSchema } from './block-schema.ts'
import { type Block, editBlock, openBlock } from './stored-block.ts'
import { isOff, type MemorySwitch, offProblem } from './switch.ts'

/** A change by the person. */
export interface BlockEdit extends BlockPatch {
  /** The version of the block that the person saw: the number of its changes. */
  readonly version: number
  /** The fields to write. Each replaces its earlier value. */
  readonly set?: Readonly<Record<string, unknown>> | undefined
  /** The names of fields to remove. */
  readonly remove?: readonly string[] | undefined
}

interface Parts {
  readonly store: SessionStore
  readonly key: SessionKey
  readonly schema: BlockSchema
  readonly passages: MemorySwitch
  readonly clock: Clock
}

/** @throws AlliumError `store.conflict`, `session.busy`, `options.invalid` */
export async function editByPerson(
  { version, ...patch }: BlockEdit,
  { store, key, schema, passages, clock }: Parts,
): Promise<{ block: Block; version: number }> {
  const checkOn = async () => {
    if (await isOff(passages, key))
      throw conflict(`${offProblem}, so nothing was stored. Switch it on, or delete the block`)
  }
  await checkOn()
  const turnId = crypto.randomUUID()
  const at = clock.now()
  const { id: opened } = await openBlock(store, key, { turnId, at })
  if (opened === undefined) throw busy()
  let known: Block = {}
  const apply = async (block: Block, current: number) => {
    await checkOn()
    if (current !== version)
      throw conflict(`it has the version ${current}, not ${version}. Read it again, and repeat the change`)
    known = block
    const next = await schema.patch(block, patch)
    if (typeof next === 'string')
      throw new AlliumError('options.invalid', `The working memory was not changed: ${next}.`)
    return next
  }
  const edited = await editBlock(store, key, { opened, turnId, at, by: 'person', apply })
  if (edited === 'unchanged') return { block: known, version }
  if ('problem' in edited) throw busy()
  return edited
}

function conflict(problem: string): AlliumError {
  return new AlliumError('store.conflict', `The working memory was not changed: ${problem}.`)
}

function busy(): AlliumError {
  return new AlliumError(
    'session.busy',
    'The working memory was not changed, because a turn is changing it. Try again in a moment.',
  )
}
