import { copyMessage } from '../../messages/copy-message.ts'
import { answerCalls, withoutApprovals } from '../../messages/history.ts'
import { cloneJson, freezeJson } from '../../messages/json.ts'
import type { Message, ToolResultPart } from '../../messages/message.ts'
import type { Attempt } from '../../onion/attempt.ts'
import type { SessionScope } from '../session/session-scope.ts'

const none: readonly Message[] = []

/** What the model calls of a turn start from: its input, and the history or what a layer has put in its place. */
export class WorkingView {
  input: Message[]
  /** The input is in the history: the core was entered. */
  begun = false
  /** Turn layers that looked at the input, or wrote it, before their next(), and do more than observe. */
  readers: Set<Attempt> | undefined
  /** The tool calls that run, which can be closed: what has no result yet was cancelled. */
  step: { close(): void } | undefined
  readonly #session: Pick<SessionScope, 'history' | 'addCallIds'>
  #messages: Message[] | undefined
  /** The input, as it stands among these before the core begins. */
  #shown = none
  #sealed = false

  constructor(session: Pick<SessionScope, 'history' | 'addCallIds'>, input: Message[]) {
    this.#session = session
    this.input = input
  }

  /** A list of its own once somebody looks at it; the messages are the history's, frozen. */
  get messages(): Message[] {
    if (this.#messages === undefined) {
      this.#shown = this.begun ? none : this.input.map(copyMessage)
      this.#messages = this.#sent.concat(this.#shown)
      for (const message of this.#messages) freezeJson(message)
    }
    return this.#messages
  }
  set messages(messages: Message[]) {
    this.#messages = messages
  }
  /** The same to read: the history itself where nobody has looked. */
  get working(): readonly Message[] {
    return this.#messages ?? this.#sent
  }
  /** The history as models are sent it. */
  get #sent(): Message[] {
    const { items, hasApprovals } = this.#session.history
    return hasApprovals ? items.map(withoutApprovals) : items
  }
  setInput(input: Message[]): void {
    if (this.#messages !== undefined && !this.begun) {
      const others = this.#messages.filter((message) => !this.#shown.includes(message))
      this.#shown = input.map((message) => freezeJson(copyMessage(message)))
      this.#messages = [...others, ...this.#shown]
    }
    this.input = input
  }

  /** The input enters the history, once. */
  takeInput(): void {
    if (this.begun) return
    this.begun = true
    this.#session.history.push(this.input)
    this.#session.addCallIds(this.input)
  }

  /** Adds a message to the history and to what the next model call starts from. */
  commit(message: Message): void {
    if (this.#sealed) return
    const own = copyMessage(message)
    this.#session.history.append(own)
    this.#messages?.push(freezeJson(own))
  }

  /** Adds results to the history and to what the next model call starts from. */
  commitResults(results: ToolResultPart[]): void {
    if (this.#sealed) return
    this.#session.history.answer(results)
    if (this.#messages !== undefined)
      answerCalls(this.#messages, cloneJson(results.map(({ approval: _, ...result }) => result)))
  }

  /** Closes the loop's part of the history: calls without a result were cancelled, and what still runs adds nothing. */
  seal(): void {
    this.step?.close()
    this.#sealed = true
  }
}
