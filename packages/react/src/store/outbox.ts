import type { ClientInput } from '@allium/server/client'
import { inputText } from './input.ts'

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
  /** The message that the input takes the place of. @default none: it is a new message, with the id of the item */
  readonly messageId?: string
  /** The stored message is answered again. */
  readonly again?: true
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

  /** The next input that takes the place of a message. It does not wait for pending calls, because it discards them. */
  get nextEdit(): OutboxItem | undefined {
    return this.items.find(({ mode, messageId }) => mode === 'queue' && messageId !== undefined)
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

  add(item: OutboxItem, place: 'first' | 'last' = 'last'): OutboxItem {
    this.#save({ ...this.#content, items: place === 'first' ? [item, ...this.items] : [...this.items, item] })
    return item
  }

  update(id: string, change: Partial<Omit<OutboxItem, 'id'>>): void {
    const item = this.items.find((one) => one.id === id)
    if (item !== undefined) this.replace(id, { ...item, ...change })
  }

  remove(id: string): void {
    this.replace(id, undefined)
  }

  /** Replaces an item at its place, or adds it as the first one. */
  putBack(id: string, item: OutboxItem): void {
    if (this.items.some((one) => one.id === id)) this.replace(id, item)
    else this.add(item, 'first')
  }

  /** Replaces an item at its place, or removes it. */
  replace(id: string, by: OutboxItem | undefined): void {
    const items = this.items.flatMap((item) => (item.id !== id ? [item] : by === undefined ? [] : [by]))
    this.#save({ ...this.#content, items })
  }

  textOf(id: string): string {
    const item = this.items.find((one) => one.id === id)
    return item === undefined ? '' : inputText(item.input)
  }

  /** After a run: delivered messages are in the history, the others become inputs. */
  settleSteers(): void {
    for (const { id, mode, state } of this.items) {
      if (mode !== 'steer') continue
      if (state === 'delivered') this.remove(id)
      else this.update(id, { mode: 'queue', state: 'queued' })
    }
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
