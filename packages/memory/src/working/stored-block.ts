import { AlliumError, noUsage, type SessionKey, type StoredTurn } from '@allium/core'
import { equalJson, isRecord } from '@allium/core/internal'
import type { SessionStore } from '@allium/store'

/** The fields of a block. */
export type Block = Readonly<Record<string, unknown>>

/** A block after one of its changes. */
export interface WorkingMemoryChange {
  /** The number of changes up to this one. */
  readonly version: number
  /** When it was made, in milliseconds since the epoch. */
  readonly at: number
  /** Who made it. */
  readonly by: 'model' | 'person'
  /** The block after this change. */
  readonly block: Block
}

/** A block as a turn found it. */
export interface OpenedBlock {
  /** The run that created it, which tells a block from a later one. Undefined if another conversation was creating it just then. */
  readonly id: string | undefined
  readonly block: Block
}

export interface Edit {
  /** The id that the turn found. */
  readonly opened: string | undefined
  /** The id of the stored turn: unique, and the same if the call runs again. */
  readonly turnId: string
  readonly at: number
  /** @default 'model' */
  readonly by?: 'person' | undefined
  /** Returns the new block, or the problem with the change. @param version the number of changes before it */
  apply(block: Block, version: number): Promise<Block | string>
}

/** A change that was stored, or why none was. */
export type Edited = { readonly block: Block; readonly version: number } | { readonly problem: string }

const leaseDuration = 10_000

/** The place of a person's block: a stored session of its own, which no agent opens. */
export function blockKey(of: { tenant: string; owner: string }, agent: string, layer: string): SessionKey {
  return { tenant: of.tenant, owner: of.owner, agent: `${agent}/${layer}`, sessionId: 'block' }
}

/**
 * Returns the block, which is created if there is none. So a later edit of the same turn detects that the person was erased meanwhile.
 */
export async function openBlock(
  store: SessionStore,
  key: SessionKey,
  { turnId, at }: { turnId: string; at: number },
): Promise<OpenedBlock> {
  const known = await headOf(store, key)
  if (known !== undefined) return known
  const { lease } = await store.acquire(key, leaseDuration)
  if (lease === undefined) return { id: undefined, block: {} }
  try {
    const created = await headOf(store, key)
    if (created !== undefined) return created
    const opened = { id: turnId, block: {} }
    await store.append(lease, 0, turnOf(key, { turnId: `${turnId}/open`, at }, opened))
    return opened
  } finally {
    await store.release(lease)
  }
}

/**
 * Changes the block under its lease, so that no change of another conversation is lost. Each change is one stored turn.
 *
 * @throws AlliumError `store.fenced` if the block was erased since the turn found it
 */
export async function editBlock(store: SessionStore, key: SessionKey, edit: Edit): Promise<Edited | 'unchanged'> {
  const { lease } = await store.acquire(key, leaseDuration)
  if (lease === undefined) return { problem: 'another conversation is changing it. Call the tool again' }
  try {
    const head = await headOf(store, key)
    // An erasure before this is detected here, and a later one deletes the lease.
    const isOther = edit.opened !== undefined && head?.id !== edit.opened
    if (head === undefined || isOther) throw erasedMeanwhile(key)
    const next = await edit.apply(head.block, head.version - 1)
    if (typeof next === 'string') return { problem: next }
    if (equalJson(head.block, next)) return 'unchanged'
    await store.append(
      lease,
      head.version,
      turnOf(key, edit, { id: head.id, block: next, ...(edit.by && { by: edit.by }) }),
    )
    return { block: next, version: head.version }
  } finally {
    await store.release(lease)
  }
}

/** Returns the block and the number of its changes, `{}` and 0 if there is none. */
export async function readBlock(store: SessionStore, key: SessionKey): Promise<{ block: Block; version: number }> {
  const { block, version } = (await headOf(store, key)) ?? { block: {}, version: 1 }
  return { block, version: version - 1 }
}

/** Returns the newest changes first. The first turn of a block is its creation, not a change. */
export async function changesOf(store: SessionStore, key: SessionKey, limit: number): Promise<WorkingMemoryChange[]> {
  const { version: turns } = (await headOf(store, key)) ?? { version: 1 }
  const changes: WorkingMemoryChange[] = []
  for (let turn = turns; turn > Math.max(1, turns - limit); turn--) {
    const stored = await store.find(key, { version: turn })
    if (stored === undefined) continue
    const by = stored.rest.state.by === 'person' ? 'person' : 'model'
    changes.push({ version: turn - 1, at: stored.startedAt, by, block: storedIn(stored.rest, key).block })
  }
  return changes
}

async function headOf(store: SessionStore, key: SessionKey) {
  const head = await store.head(key)
  return head === undefined ? undefined : { ...storedIn(head.rest, key), version: head.version }
}

/** The status keeps it out of reports of usage. */
function turnOf({ agent }: SessionKey, { turnId, at }: Pick<Edit, 'turnId' | 'at'>, stored: object): StoredTurn {
  return {
    ...{ turnId, rootId: turnId, agent, status: 'closed', startedAt: at, endedAt: at },
    ...{ usage: noUsage(), answer: null, records: [], from: 0, messages: [], rest: { state: { ...stored } } },
  }
}

function storedIn({ state: { id, block } }: StoredTurn['rest'], { tenant, owner }: SessionKey) {
  if (typeof id === 'string' && isRecord(block)) return { id, block }
  throw new AlliumError(
    'store.corrupt',
    `The working memory of "${owner}" is not a block that this layer stored. Delete it with workingMemory().delete().`,
    { details: { tenant, owner } },
  )
}

function erasedMeanwhile({ tenant, owner }: SessionKey): AlliumError {
  return new AlliumError(
    'store.fenced',
    `The working memory of "${owner}" was deleted while this turn ran, so its change was not stored. The next turn begins a new one.`,
    { details: { tenant, owner } },
  )
}
