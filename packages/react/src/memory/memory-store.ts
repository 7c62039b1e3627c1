import type { MemoryBlockChange, MemoryClient, MemoryPassage, MemoryView } from '@allium/server/memory-client'

/** What a page shows of a person's memory. */
export interface MemoryStoreState {
  /** Whether memory is on, and the blocks; undefined until they are loaded. */
  readonly memory: MemoryView | undefined
  /** The loaded messages that can be recalled, by conversation. */
  readonly passages: readonly MemoryPassage[]
  /** Whether `loadMore()` has another page. */
  readonly hasMore: boolean
  /** Whether a request is being answered. */
  readonly isBusy: boolean
  /** Why the last request failed; undefined after one that succeeded. */
  readonly error: unknown
}

const empty: MemoryStoreState = { memory: undefined, passages: [], hasMore: false, isBusy: false, error: undefined }
const pageSize = 20

/** The memory of a person without React. `useMemory` has one. */
export class MemoryStore {
  readonly #client: MemoryClient
  readonly #listeners = new Set<() => void>()
  #state = empty
  #cursor: string | undefined
  /** The last request. Requests run one after the other, so that an old answer never replaces a newer one. */
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  constructor(client: MemoryClient) {
    this.#client = client
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  readonly getSnapshot = (): MemoryStoreState => this.#state

  /** Loads everything again, with the first page of passages. */
  readonly reload = () => this.#do(async () => {})

  /** Switches memory on or off for the person. */
  readonly setOn = (on: boolean) => this.#do(() => this.#client.setOn(on))

  /** Changes a block from the version that is shown. After a conflict, `error` is set, and the newer block is shown. */
  readonly edit = (name: string, change: Omit<MemoryBlockChange, 'version'>) => {
    const version = this.#state.memory?.blocks.find((block) => block.name === name)?.version ?? 0
    return this.#do(() => this.#client.edit(name, { ...change, version }))
  }

  readonly deleteBlock = (name: string) => this.#do(() => this.#client.deleteBlock(name))

  /** Deletes a conversation with its passages. */
  readonly deleteConversation = (sessionId: string) => this.#do(() => this.#client.deleteConversation(sessionId))

  /** Deletes all blocks and all conversations with the agent. */
  readonly deleteAll = () => this.#do(() => this.#client.deleteAll())

  /** Loads the next page of passages. */
  readonly loadMore = () =>
    this.#queue(async () => {
      const cursor = this.#cursor
      if (cursor === undefined) return
      const page = await this.#client.passages({ limit: pageSize, cursor })
      this.#cursor = page.cursor
      const passages = [...this.#state.passages, ...page.items]
      this.#set({ passages, hasMore: page.cursor !== undefined })
    })

  /** Sends a change, and shows what is stored then, also if it failed. */
  #do(send: () => Promise<unknown>): Promise<boolean> {
    return this.#queue(async () => {
      try {
        await send()
      } finally {
        await this.#load()
      }
    })
  }

  async #load(): Promise<void> {
    const [memory, page] = await Promise.all([this.#client.view(), this.#client.passages({ limit: pageSize })])
    this.#cursor = page.cursor
    this.#set({ memory, passages: page.items, hasMore: page.cursor !== undefined })
  }

  /** Returns whether the work succeeded. */
  #queue(work: () => Promise<void>): Promise<boolean> {
    this.#waiting++
    this.#set({ isBusy: true })
    const done = this.#last.then(work).then(
      () => this.#end(undefined),
      (error: unknown) => this.#end({ error }),
    )
    this.#last = done
    return done
  }

  #end(failure: { error: unknown } | undefined): boolean {
    this.#waiting--
    this.#set({ isBusy: this.#waiting > 0, error: failure?.error })
    return failure === undefined
  }

  #set(change: Partial<MemoryStoreState>): void {
    this.#state = { ...this.#state, ...change }
    for (const listener of this.#listeners) listener()
  }
}
