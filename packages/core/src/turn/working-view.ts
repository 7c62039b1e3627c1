import { answerCalls, withoutApprovals } from '../messages/calls.ts'
import { cloneJson, copyMessage, freezeJson } from '../messages/json.ts'
import type { Message, ToolResultPart } from '../messages/message.ts'
import type { Attempt } from '../onion/attempt.ts'
import type { SessionScope } from '../session/scope/session-scope.ts'

const none: readonly Message[] = []

/** What a turn's model calls start from: the input, and the history or the messages that replaced it. */
export class WorkingView {
  input: Message[]
  /** The input is in the history. */
  begun = false
  /** Turn layers that read or replaced the input before their next(), and do more than observe. */
  readers: Set<Attempt> | undefined
  readonly #session: Pick<SessionScope, 'history'>
  #messages: Message[] | undefined
  /** The input as part of `messages`, before the core starts. */
  #shown = none

  constructor(session: Pick<SessionScope, 'history'>, input: Message[]) {
    this.#session = session
    this.input = input
  }

  /** A separate list from the first access on. The messages are those of the history, frozen. */
  get messages(): Message[] {
    if (this.#messages === undefined) {
      this.#shown = this.begun ? none : this.input.map(copyMessage)
      this.#messages = this.working.concat(this.#shown)
      for (const message of this.#messages) freezeJson(message)
    }
    return this.#messages
  }
  set messages(messages: Message[]) {
    this.#messages = messages
  }
  /** The same for reading. It is the history, without approval records, until `messages` is accessed. */
  get working(): readonly Message[] {
    if (this.#messages !== undefined) return this.#messages
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

  /** Adds a message that is in the history to what the next model call starts from. */
  add(message: Message): void {
    this.#messages?.push(freezeJson(message))
  }
  /** Adds tool results that are in the history. */
  addResults(results: ToolResultPart[]): void {
    if (this.#messages !== undefined)
      answerCalls(this.#messages, cloneJson(results.map(({ approval: _, ...result }) => result)))
  }
}
