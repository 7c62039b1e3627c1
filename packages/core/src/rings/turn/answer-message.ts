import type { History } from '../../messages/history.ts'
import type { Message } from '../../messages/message.ts'
import type { Assembly } from '../../stream/assembly.ts'
import { withoutContent, withStreamedContent, withText } from './streamed-message.ts'

/** The message of a turn's answer in the history, which stays as the stream has it. */
export class AnswerMessage {
  readonly #history: History
  #at: number | undefined
  /** Messages that were said while a layer held: no reader has seen them. */
  #unseen: number[] | undefined
  /** Messages that were held and shown at once with the present answer: what takes that back takes them back. */
  #together: number[] | undefined

  constructor(history: History) {
    this.#history = history
  }

  /** A new answer begins. */
  begin(): void {
    this.#together = undefined
    this.#at = undefined
  }
  /** Whether the answer has a message. */
  get exists(): boolean {
    return this.#at !== undefined
  }
  /** What follows is a message of its own. */
  leave(): void {
    this.#at = undefined
  }

  /** The answer's message was put into the history. */
  isAt(at: number | undefined, unseen: boolean): void {
    this.#at = at
    if (at !== undefined && unseen) this.#note(at)
  }
  /** What was held is shown. */
  shown(): void {
    this.#together = this.#unseen
    this.#unseen = undefined
  }

  /**
   * Gives the answer another text. An answer without a message gets one. When the stream started over, the old thoughts and
   * files are removed too, because no reader has them.
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

  /** Thoughts and files as they left. */
  replaceThoughts(assembly: Assembly): void {
    const old = this.#message
    if (this.#at === undefined || old === undefined) return
    const message = withStreamedContent(old, assembly)
    if (message !== old) this.#history.replace(this.#at, message)
  }

  /** What the reader saw of an answer that was cut has a message. */
  interrupt(text: string): void {
    this.#history.append({ role: 'assistant', content: text, interrupted: true })
  }

  /** The answer is taken back. Pairs of calls and results stay. */
  retract(): void {
    if (this.#at !== undefined) this.#silence(this.#at)
  }
  /** A reader forgets what is shown: with the answer, what was shown at once with it. */
  reset(): void {
    for (const at of this.#together?.reverse() ?? []) if (at !== this.#at) this.#silence(at)
    this.#together = undefined
  }
  /** What no reader has seen is nowhere. Tells whether there was something. */
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
