import type { Message, ModelContext } from '@allium/core'
import { isDeepFrozen } from '@allium/core/internal'
import { LRUCache } from 'lru-cache'
import type { TextFilter } from '../content/text-filter.ts'
import { mapMessage } from '../text/map-message.ts'

/** Characters of the texts that a layer remembers. */
const mostCharacters = 4_000_000
/** Memory of an entry besides its text, as characters. */
const entrySize = 100

/** Remembers content in which the layer found nothing. */
export class CleanCache {
  /** Immutable messages with more than one text. */
  readonly #messages = new WeakSet<object>()
  /** Clean texts, by content, because each run of a stored session loads its messages again. */
  readonly #texts = new LRUCache<string, true>({
    maxSize: mostCharacters,
    sizeCalculation: (_, text) => text.length + entrySize,
  })

  /** `clean` calls `onPublic` for a value that stays in the text. Such a text is not remembered, because another agent may redact it. */
  cleanText(text: string, clean: (onPublic: () => void) => Promise<string>): string | Promise<string> {
    return this.#texts.get(text) ? text : this.#clean(clean)
  }

  /** Cleans the model's input, except instructions, which the developer wrote. */
  async cleanMessages(ctx: ModelContext, filterText: TextFilter['filterText']): Promise<void> {
    const original = ctx.request.messages as readonly Message[]
    let messages: Message[] | undefined
    for (let i = 0; i < original.length; i++) {
      const message = original[i] as Message
      const isClean = message.role === 'system' || this.#isKnown(message) || this.#messages.has(message)
      const mapped = isClean ? message : await mapMessage(message, filterText)
      if (mapped !== message) messages ??= original.slice(0, i)
      else if (!isClean && !this.#isKnown(message) && isDeepFrozen(message)) this.#messages.add(message)
      messages?.push(mapped)
    }
    if (messages !== undefined) ctx.messages = messages
  }

  async #clean(clean: (onPublic: () => void) => Promise<string>): Promise<string> {
    let hasPublic = false
    const cleaned = await clean(() => {
      hasPublic = true
    })
    if (!hasPublic) this.#texts.set(cleaned, true)
    return cleaned
  }

  /** Whether the message is a single text that is known. */
  #isKnown({ content }: Message): boolean {
    if (typeof content === 'string') return this.#texts.get(content) === true
    const [part] = content
    return content.length === 1 && part?.type === 'text' && this.#texts.get(part.text) === true
  }
}
