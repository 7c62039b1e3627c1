import type { Message, ModelContext } from '@allium/core'
import { isDeepFrozen } from '../frozen.ts'
import type { TextFilter } from '../stream-filter.ts'
import { mapMessage, type Unchanged } from '../texts.ts'

/** Remembers content in which the layer found nothing. */
export class CleanCache {
  /** Immutable messages. */
  readonly #messages = new WeakSet<object>()
  readonly #unchanged: Unchanged = new WeakMap()
  /** The last cleaned texts, by agent. */
  readonly #recent = new WeakMap<object, readonly string[]>()

  /** Text that was cleaned for the history is sent to the model right after, so recent texts are cached. */
  async cleanText(agent: object, text: string, clean: (text: string) => Promise<string>): Promise<string> {
    const recent = this.#recent.get(agent) ?? []
    if (recent.includes(text)) return text
    const cleaned = await clean(text)
    this.#recent.set(agent, [cleaned, ...recent.slice(0, 7)])
    return cleaned
  }

  /** Cleans the model's input, except instructions, which the developer wrote. */
  async cleanMessages(ctx: ModelContext, filterText: TextFilter['filterText']): Promise<void> {
    const messages: Message[] = []
    const original = ctx.request.messages
    for (const message of original as readonly Message[]) {
      const isClean = message.role === 'system' || this.#messages.has(message)
      const mapped = isClean ? message : await mapMessage(message, filterText, this.#unchanged)
      if (!isClean && mapped === message && isDeepFrozen(message)) this.#messages.add(message)
      messages.push(mapped)
    }
    if (messages.some((message, i) => message !== original[i])) ctx.messages = messages
  }
}
