import type { History } from '../../messages/history.ts'
import type { Message } from '../../messages/message.ts'
import type { Assembly } from '../../stream/assembly.ts'
import { withoutContent, withStreamedContent, withText } from './streamed-message.ts'

/** The message of a turn's answer in the history. It is kept in agreement with the stream. */
export class AnswerMessage {
  readonly #history: History
  #at: number | undefined
  /** Positions of messages added while a layer held the stream. No reader has seen them. */
  #unseen: number[] | undefined
  /** Positions of messages that were held and then shown together with the current answer. A reset removes them too. */
  #together: number[] | undefined

  constructor(history: History) {
    this.#history = history
  }

  /** Starts a new answer. */
  begin(): void {
    this.#together = undefined
    this.#at = undefined
  }
  /** Whether the answer has a message. */
  get exists(): boolean {
    return this.#at !== undefined
  }
  /** Content that follows becomes a separate message. */
  leave(): void {
    this.#at = undefined
  }

  /** The answer's message was added to the history. */
  isAt(at: number | undefined, unseen: boolean): void {
    this.#at = at
    if (at !== undefined && unseen) this.#note(at)
  }
  /** The held content was shown. */
  shown(): void {
    this.#together = this.#unseen
    this.#unseen = undefined
  }

  /**
   * Replaces the text of the answer. An answer without a message gets one. If the stream started over, the old
   * reasoning and files are removed too, because no reader has them.
   */
  replace(text: string, unseen: boolean, startsOver: boolean): void {
    const old = this.#message
    if (old === undefined || this.#at === undefined) {
      if (text === '') return
      this.#history.append({ role: 'assistant', content: text })
      return this.isAt(this.#history.items.length - 1, unseen)
    }
    const message = withText(startsOver ? (withoutContent(old) ?? { ...old, content: '' }) : old, text)
    this.#history.replace(this.#at, message)
    if (message === undefined) this.#at = undefined
  }

  /** Replaces reasoning and files with the streamed ones. */
  replaceThoughts(assembly: Assembly): void {
    const old = this.#message
    if (this.#at === undefined || old === undefined) return
    const message = withStreamedContent(old, assembly)
    if (message !== old) this.#history.replace(this.#at, message)
  }

  /** Adds a message with the text that the reader saw of an interrupted answer. */
  interrupt(text: string): void {
    this.#history.append({ role: 'assistant', content: text, interrupted: true })
  }

  /** Removes the content of the answer. Calls and their results stay. */
  retract(): void {
    if (this.#at !== undefined) this.#silence(this.#at)
  }
  /** The reader discards the shown content. Removes the messages that were shown together with the answer. */
  reset(): void {
    for (const at of this.#together?.reverse() ?? []) if (at !== this.#at) this.#silence(at)
    this.#together = undefined
  }
  /** Removes the messages that no reader has seen. Returns whether there were any. */
  dropUnseen(): boolean {
    const unseen = this.#unseen
    if (unseen === undefined) return false
    for (const at of unseen.reverse()) this.#silence(at)
    this.#unseen = undefined
    return true
  }

  get #message(): Message | undefined {
    return this.#at === undefined ? undefined : this.#history.items[this.#at]
  }

  #note(at: number): void {
    this.#unseen ??= []
    this.#unseen.push(at)
  }

  #silence(at: number): void {
    const old = this.#history.items[at]
    if (old === undefined) return
    const message = withoutContent(old)
    this.#history.replace(at, message)
    if (message === undefined && this.#at !== undefined) {
      if (at === this.#at) this.#at = undefined
      else if (at < this.#at) this.#at--
    }
  }
}
