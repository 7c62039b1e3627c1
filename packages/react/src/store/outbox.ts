import type { ClientInput } from '@allium/server/client'

/** A place for text that was not sent yet: `sessionStorage`, `localStorage`, or your own. */
export interface ChatStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

/**
 * An input that the server has not confirmed. `id` is its idempotency key, so sending it twice runs it once.
 *
 * - `queued`: waits for the active run
 * - `sending`: a request was made, and its outcome is unknown
 * - `unsent`: the request failed
 * - `delivered`: the active run received it, and the history does not have it yet
 */
export interface OutboxItem {
  readonly id: string
  readonly input: ClientInput
  readonly mode: 'queue' | 'steer'
  readonly state: 'queued' | 'sending' | 'unsent' | 'delivered'
}

interface Content {
  readonly draft: string
  readonly items: readonly OutboxItem[]
}

const empty: Content = { draft: '', items: [] }

/** Keeps the user's text until the server has it, through lost connections and reloads. */
export class Outbox {
  readonly #storage: ChatStorage | undefined
  readonly #key: string
  #content: Content = empty

  constructor(sessionId: string, storage: ChatStorage | undefined) {
    this.#storage = storage
    this.#key = `allium:outbox:${sessionId}`
  }

  get draft(): string {
    return this.#content.draft
  }

  get items(): readonly OutboxItem[] {
    return this.#content.items
  }

  /** The next input to send. */
  get next(): OutboxItem | undefined {
    return this.items.find(({ mode }) => mode === 'queue')
  }

  /** Reads the stored text. It is not read earlier, so that the first render equals that of the server. */
  restore(): void {
    if (this.#content !== empty) return
    try {
      const stored = this.#storage?.getItem(this.#key)
      if (stored) this.#content = { ...empty, ...(JSON.parse(stored) as Content) }
    } catch {
      this.#content = empty
    }
  }

  write(draft: string): void {
    this.#save({ ...this.#content, draft })
  }

  add(item: OutboxItem): void {
    this.#save({ ...this.#content, items: [...this.items, item] })
  }

  update(id: string, change: Partial<Omit<OutboxItem, 'id'>>): void {
    this.#save({ ...this.#content, items: this.items.map((item) => (item.id === id ? { ...item, ...change } : item)) })
  }

  remove(id: string): OutboxItem | undefined {
    const removed = this.items.find((item) => item.id === id)
    if (removed !== undefined) this.#save({ ...this.#content, items: this.items.filter((item) => item !== removed) })
    return removed
  }

  #save(content: Content): void {
    this.#content = content
    try {
      if (content.draft === '' && content.items.length === 0) this.#storage?.removeItem(this.#key)
      else this.#storage?.setItem(this.#key, JSON.stringify(content))
    } catch {
      // The storage is full or disabled. The text is kept in memory.
    }
  }
}
