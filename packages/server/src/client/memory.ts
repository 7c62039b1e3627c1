import type { MemoryBlockView, MemoryChangeView, MemoryPassage, MemoryView } from '../sessions/memory-view.ts'
import type { Page } from './client.ts'
import { checkOptionNames, json, pathSegment, sendOnce } from './http.ts'
import { createTransport, type TransportOptions } from './transport.ts'

/** A change of a block. Fields that are neither set nor removed stay. */
export interface MemoryBlockChange {
  /** The version that the person saw. */
  version: number
  set?: Readonly<Record<string, unknown>> | undefined
  remove?: readonly string[] | undefined
}

/** What an agent remembers of the signed-in person. */
export interface MemoryClient {
  /** Returns the blocks, the number of passages, and whether memory is on. */
  view(): Promise<MemoryView>
  /** Switches memory on or off for the person. It stays off while an operator has switched it off for the tenant. */
  setOn(on: boolean): Promise<Pick<MemoryView, 'on' | 'off'>>
  /** Lists the messages that can be recalled: by conversation, the last changed first. A page may have fewer than `limit`. */
  passages(page?: { limit?: number; cursor?: string }): Promise<Page<MemoryPassage>>
  /** Changes a block. @throws ClientError `store.conflict` if it was changed meanwhile: read it again; `request.invalid` if it does not fit */
  edit(block: string, change: MemoryBlockChange): Promise<MemoryBlockView>
  /** Returns the last changes of a block, newest first. @param limit from 1 to 100 @default 20 */
  changes(block: string, limit?: number): Promise<readonly MemoryChangeView[]>
  /** Deletes a block with all its changes. */
  deleteBlock(block: string): Promise<void>
  /** Deletes a conversation with its passages. */
  deleteConversation(sessionId: string): Promise<void>
  /** Deletes all blocks and all conversations with the agent. Returns how many conversations. */
  deleteAll(): Promise<number>
}

/**
 * Creates a client for the routes of `memory()`. The server needs the option `memory`.
 *
 * @throws ClientError `options.invalid`
 * @example
 * const memory = createMemoryClient({ url, headers: () => ({ authorization }) })
 * const { on, blocks } = await memory.view()
 */
export function createMemoryClient(options: TransportOptions): MemoryClient {
  const transport = createTransport(options, 'createMemoryClient()')
  const blockPath = (name: string) => `/memory/blocks/${pathSegment(name, 'the name of a block')}`
  const remove = async (path: string) => void (await sendOnce(transport, path, { method: 'DELETE' }))
  return {
    view: () => json(transport, '/memory'),
    setOn: (on) => json(transport, '/memory/switch', { method: 'PUT', body: { on }, idempotent: true }),
    async passages(page = {}) {
      checkOptionNames(page, { limit: true, cursor: true }, 'A page')
      const given = Object.entries(page).filter(([, value]) => value !== undefined)
      const params = new URLSearchParams(given as [string, string][])
      const { items, cursor } = await json<Page<MemoryPassage>>(transport, `/memory/passages?${params}`)
      return { items, cursor }
    },
    // Not idempotent: after a lost answer, the version is another one.
    edit: (block, body) => json(transport, blockPath(block), { method: 'PUT', body }),
    async changes(block, limit = 20) {
      const path = `${blockPath(block)}/changes?limit=${limit}`
      return (await json<{ changes: MemoryChangeView[] }>(transport, path)).changes
    },
    deleteBlock: (block) => remove(blockPath(block)),
    deleteConversation: (id) => remove(`/sessions/${pathSegment(id, 'the id of a session')}`),
    async deleteAll() {
      let all = 0
      for (let more = true; more; ) {
        const answer = await json<{ deleted: number; more: boolean }>(transport, '/memory', { method: 'DELETE' })
        all += answer.deleted
        more = answer.more
      }
      return all
    },
  }
}
