import { AlliumError } from '../errors/allium-error.ts'
import { answerCalls, awaitedCalls, isApproved, missingResult, pendingParts } from './calls.ts'
import { checkMessage } from './check-messages.ts'
import { copyMessage, freezeJson } from './json.ts'
import type { Message, Part, ToolCallPart, ToolResultPart } from './message.ts'

/** The conversation as users see it: a read-only array, plus `push`. A message is frozen when it is first read. */
export interface ReadonlyHistory extends ReadonlyArray<Readonly<Message>> {
  /** Adds messages at the end, after checking and copying them. */
  push(...messages: Message[]): number
}

/** The conversation of a session. It is append-only, except that the core may replace the last answer. */
export class History {
  readonly items: Message[] = []
  /** Index of the first message that was added or changed since `watch()`. */
  changedFrom = 0
  /** Index of the first message that was added or changed since the last step of the run began. */
  unchangedTo = 0
  /** Whether a call that the provider ran may lack its result, which can arrive with a later answer of the turn. */
  mayAwait = false
  /** Whether it came from outside this session, for example from a store. */
  isRestored = false
  /** Whether it contains approval records, which are not sent to models. */
  hasApprovals = false
  #view: ReadonlyHistory | undefined

  /** Adds copies of messages. */
  push(messages: readonly Message[]): void {
    for (const message of messages) this.items.push(copyMessage(message))
    this.hasApprovals ||= messages.some(isApproved)
  }

  /** Replaces or removes the answer. Only for the core. */
  replace(index: number, message: Message | undefined): void {
    if (message === undefined) this.items.splice(index, 1)
    else this.items[index] = message
    this.changed(index)
  }

  /** Returns copies of the messages from an index on. */
  since(index: number): Message[] {
    return this.items.slice(index).map(copyMessage)
  }

  reset(messages: readonly Message[]): void {
    this.items.length = 0
    this.changedFrom = 0
    this.mayAwait = this.isRestored = true
    this.push(messages)
  }

  /** Adds an error result for each provider call that never got one, at the end of the answer with that call. */
  closeAwaited(): void {
    if (!this.mayAwait) return
    this.mayAwait = false
    for (const [at, calls] of awaitedCalls(this.items)) {
      const message = this.items[at] as Message
      this.replace(at, { ...message, content: [...(message.content as Part[]), ...calls.map(missingResult)] })
    }
  }

  /** Returns the tool calls of the last assistant message that have no result yet. */
  pending(): ToolCallPart[] {
    return pendingParts(this.items)
  }

  /** Adds results to pending calls. */
  answer(results: readonly ToolResultPart[]): void {
    const at = answerCalls(this.items, results)
    this.hasApprovals ||= results.some(({ approval }) => approval !== undefined)
    if (at !== undefined) this.changed(at)
  }

  /** Adds the same error result to each pending call. */
  closePending(content: string): void {
    const calls = pendingParts(this.items)
    if (calls.length === 0) return
    this.answer(calls.map(({ callId, name }) => ({ type: 'tool-result', callId, name, content, isError: true })))
  }

  /** Starts to track changes from here on. */
  watch(): void {
    this.changedFrom = this.items.length
    this.unchangedTo = 0
  }
  changed(index: number): void {
    this.changedFrom = Math.min(this.changedFrom, index)
    this.unchangedTo = Math.min(this.unchangedTo, index)
  }

  /** The history for layers and callers. A cached proxy, because a plain array could be rewritten. */
  get view(): ReadonlyHistory {
    return (this.#view ??= this.viewFor(always))
  }

  /** Returns the history for one layer. `push` only has an effect while `mayPush` returns true. */
  viewFor(mayPush: () => boolean): ReadonlyHistory {
    return new Proxy(this.items, new AppendOnly(mayPush)) as unknown as ReadonlyHistory
  }
}

/** The proxy handler of a view. It is a class, so that a view costs one small object. */
class AppendOnly implements ProxyHandler<Message[]> {
  readonly #mayPush: () => boolean

  constructor(mayPush: () => boolean) {
    this.#mayPush = mayPush
  }

  get(items: Message[], key: PropertyKey): unknown {
    if (key === 'push') return (...messages: Message[]) => (this.#mayPush() ? pushAll(items, messages) : items.length)
    const value: unknown = Reflect.get(items, key)
    if (typeof value === 'function') return writers.has(key) ? refuse : value
    return freezeJson(value)
  }
  set(): never {
    return refuse()
  }
  deleteProperty(): never {
    return refuse()
  }
  defineProperty(): never {
    return refuse()
  }
  setPrototypeOf(): never {
    return refuse()
  }
}

const always = () => true

const writers = new Set<PropertyKey>(['pop', 'shift', 'unshift', 'splice', 'sort', 'reverse', 'fill', 'copyWithin'])

function pushAll(items: Message[], messages: Message[]): number {
  for (const message of messages) checkMessage(message, 'A message pushed to the history', 'history.invalid')
  for (const message of messages) items.push(copyMessage(message))
  return items.length
}

function refuse(): never {
  throw new AlliumError(
    'history.invalid',
    'The history is append-only: use push(), or change ctx.messages, which the model receives.',
  )
}
