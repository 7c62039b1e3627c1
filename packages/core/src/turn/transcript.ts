import { withKnownResults } from '../messages/calls.ts'
import type { History } from '../messages/history.ts'
import { copyMessage } from '../messages/json.ts'
import type { Message, ToolResultPart } from '../messages/message.ts'
import { type ModelResponse, responseMessage } from '../model/response.ts'
import type { SessionScope } from '../session/scope/session-scope.ts'
import type { Assembly } from '../stream/assembly.ts'
import { withoutContent, withStreamedContent, withText } from '../stream/streamed-message.ts'
import type { WorkingView } from './working-view.ts'

/**
 * The only writer of the history in a turn, besides `ctx.history.push()`. It also adds what it writes to the working
 * view, and keeps the message of the answer in agreement with the stream.
 */
export class Transcript {
  /** The running tool calls. `close` cancels those that have no result yet. */
  step: { close(): void } | undefined
  readonly #session: Pick<SessionScope, 'addCallIds' | 'callIds'>
  readonly #history: History
  readonly #view: WorkingView
  #sealed = false
  /** The position of the answer's message. */
  #answer: number | undefined
  /** Positions of messages added while a layer held the stream. No reader has seen them. */
  #unseen: number[] | undefined
  /** Positions of messages that were held and then shown together with the current answer. A reset removes them too. */
  #together: number[] | undefined

  constructor(session: Pick<SessionScope, 'history' | 'addCallIds' | 'callIds'>, view: WorkingView) {
    this.#session = session
    this.#history = session.history
    this.#view = view
  }

  /** Adds the input, once. */
  addInput(): void {
    const view = this.#view
    if (view.begun) return
    view.begun = true
    this.#history.push(view.input)
    this.#session.addCallIds(view.input)
  }

  /** Adds a message of the loop. */
  add(message: Message): void {
    if (this.#sealed) return
    const own = copyMessage(message)
    this.#history.items.push(own)
    this.#view.add(own)
  }

  /** Adds tool results. */
  addResults(results: ToolResultPart[]): void {
    if (this.#sealed) return
    this.#history.answer(results)
    this.#view.addResults(results)
  }

  /** Closes the loop's part. Calls without a result are cancelled, and later messages and results are ignored. */
  seal(): void {
    this.step?.close()
    this.#sealed = true
  }
  /** The run ended early. Cancels the calls that have no result. */
  cancelCalls(): void {
    this.seal()
    this.#history.closePending('Cancelled.')
  }

  /** Content that follows is a new answer, with a message of its own. */
  beginAnswer(): void {
    this.#together = this.#answer = undefined
  }
  /** Adds the message of a model call. It is the message of the answer. */
  addAnswer(response: ModelResponse, unseen: boolean): void {
    const message = withKnownResults(responseMessage(response), this.#history.items)
    for (const { callId, providerExecuted } of response.toolCalls) {
      this.#session.callIds.add(callId)
      if (providerExecuted === true) this.#history.mayAwait = true
    }
    if (message.content.length === 0) return
    this.add(message)
    this.#isLast(unseen)
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
  replaceText(text: string, unseen: boolean, startsOver: boolean): void {
    const old = this.#message
    if (old === undefined) {
      if (text === '') return
      this.#history.items.push({ role: 'assistant', content: text })
      return this.#isLast(unseen)
    }
    const message = withText(startsOver ? (withoutContent(old) ?? { ...old, content: '' }) : old, text)
    this.#history.replace(this.#answer as number, message)
    if (message === undefined) this.#answer = undefined
  }

  /** Replaces reasoning and files of the answer with the streamed ones. */
  replaceThoughts(assembly: Assembly): void {
    const old = this.#message
    if (old === undefined) return
    const message = withStreamedContent(old, assembly)
    if (message !== old) this.#history.replace(this.#answer as number, message)
  }

  /** Adds the text that the reader saw of an interrupted answer, unless the answer has a message. */
  interrupt(text: string): void {
    if (this.#answer === undefined && text !== '')
      this.#history.items.push({ role: 'assistant', content: text, interrupted: true })
  }

  /** Removes the content of the answer. Calls and their results stay. */
  retract(): void {
    if (this.#answer !== undefined) this.#silence(this.#answer)
  }
  /** The reader discards the shown content. Removes the messages that were shown together with the answer. */
  reset(): void {
    for (const at of this.#together?.reverse() ?? []) if (at !== this.#answer) this.#silence(at)
    this.#together = undefined
  }
  /** Removes the messages that no reader has seen. Returns whether there were any. */
  dropUnseen(): boolean {
    const unseen = this.#unseen
    if (unseen === undefined) return false
    for (const at of unseen.reverse()) this.#silence(at)
    this.#unseen = this.#answer = undefined
    return true
  }

  get #message(): Message | undefined {
    return this.#answer === undefined ? undefined : this.#history.items[this.#answer]
  }

  /** The last message is the message of the answer. */
  #isLast(unseen: boolean): void {
    this.#answer = this.#history.items.length - 1
    if (!unseen) return
    this.#unseen ??= []
    this.#unseen.push(this.#answer)
  }

  #silence(at: number): void {
    const old = this.#history.items[at]
    if (old === undefined) return
    const message = withoutContent(old)
    this.#history.replace(at, message)
    if (message !== undefined || this.#answer === undefined) return
    if (at === this.#answer) this.#answer = undefined
    else if (at < this.#answer) this.#answer--
  }
}
