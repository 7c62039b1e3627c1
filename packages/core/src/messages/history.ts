import { AlliumError } from '../errors/allium-error.ts'
import { checkMessage } from './check-messages.ts'
import { copyMessage } from './copy-message.ts'
import { freezeJson } from './json.ts'
import type { Message, Part, ToolCallPart, ToolResultPart } from './message.ts'

/** The canonical conversation as users see it: reading like an array, and `push`. A message is frozen once somebody looks at it. */
export interface ReadonlyHistory extends ReadonlyArray<Readonly<Message>> {
  /** Adds messages at the end; they are checked and copied. */
  push(...messages: Message[]): number
}

/** The canonical conversation of a session. It only grows; the last answer alone may be replaced, by the core. */
export class History {
  readonly items: Message[] = []
  /** The first message that is new or another one since `watch()`. */
  changedFrom = 0
  /** A call that the provider ran may be without its result, which can come with a later answer of the turn. */
  mayAwait = false
  /** It came from outside this session, as from a store. */
  isRestored = false
  /** Somebody has decided a call of it: what is kept of that is not sent to models. */
  hasApprovals = false
  #view: ReadonlyHistory | undefined

  /** Adds a message that the core made itself. */
  append(message: Message): void {
    this.items.push(message)
  }

  /** Adds messages as copies. */
  push(messages: readonly Message[]): void {
    for (const message of messages) this.append(copyMessage(message))
    this.hasApprovals ||= messages.some(isApproved)
  }

  /** Replaces or removes the answer; only the core may. */
  replace(index: number, message: Message | undefined): void {
    if (message === undefined) this.items.splice(index, 1)
    else this.items[index] = message
    this.changed(index)
  }

  /** Copies of the messages from an index on. */
  since(index: number): Message[] {
    return this.items.slice(index).map(copyMessage)
  }

  reset(messages: readonly Message[]): void {
    this.items.length = 0
    this.changedFrom = 0
    this.mayAwait = this.isRestored = true
    this.push(messages)
  }

  /** Gives each call of a provider that never brought its result one, behind what its answer says. */
  closeAwaited(): void {
    if (!this.mayAwait) return
    this.mayAwait = false
    for (const [at, calls] of awaitedCalls(this.items)) {
      const message = this.items[at] as Message
      this.replace(at, { ...message, content: [...(message.content as Part[]), ...calls.map(missingResult)] })
    }
  }

  /** Tool calls of the last assistant message that have no result yet. */
  pending(): ToolCallPart[] {
    return pendingParts(this.items)
  }

  /** Gives results to calls that wait for theirs. */
  answer(results: readonly ToolResultPart[]): void {
    const at = answerCalls(this.items, results)
    this.hasApprovals ||= results.some(({ approval }) => approval !== undefined)
    if (at !== undefined) this.changed(at)
  }

  /** Gives each call that waits the same result, an error. */
  closePending(content: string): void {
    this.answer(
      this.pending().map(
        ({ callId, name }): ToolResultPart => ({ type: 'tool-result', callId, name, content, isError: true }),
      ),
    )
  }

  /** From here on changes are watched; gives where the last watch found the first one. */
  watch(): void {
    this.changedFrom = this.items.length
  }
  changed(index: number): void {
    if (index < this.changedFrom) this.changedFrom = index
  }

  /** What layers and callers get. A proxy, made once, because a plain array could be rewritten. */
  get view(): ReadonlyHistory {
    this.#view ??= this.viewFor(always)
    return this.#view
  }

  /** The same for one layer, whose `push` adds something only while it may. */
  viewFor(mayPush: () => boolean): ReadonlyHistory {
    return new Proxy(this.items, new AppendOnly(mayPush)) as unknown as ReadonlyHistory
  }
}

/** Whether somebody has decided a call that it has the result of. */
function isApproved({ content }: Message): boolean {
  return typeof content !== 'string' && content.some((part) => 'approval' in part && part.approval !== undefined)
}

/** A message as models are sent it: the same without what is kept of decisions. */
export function withoutApprovals(message: Message): Message {
  if (!isApproved(message)) return message
  const content = (message.content as Part[]).map((part) => {
    if (part.type !== 'tool-result' || part.approval === undefined) return part
    const { approval: _, ...rest } = part
    return rest
  })
  return { ...message, content }
}

/** All tool calls of the last assistant message that the agent's own tools answer. */
export function lastCalls(messages: readonly Message[]): ToolCallPart[] {
  const content = messages.findLast(({ role }) => role === 'assistant')?.content
  if (content === undefined || typeof content === 'string') return []
  return content.filter((part): part is ToolCallPart => isCall(part) && part.providerExecuted !== true)
}

/** Calls that the provider ran and whose result has not come, by the place of their message. */
export function awaitedCalls(messages: readonly Message[]): Map<number, ToolCallPart[]> {
  const answered = new Set<string>()
  const awaited = new Map<number, ToolCallPart[]>()
  for (let at = messages.length - 1; at >= 0; at--) {
    const { content } = messages[at] as Message
    if (typeof content === 'string') continue
    for (const part of content) if (part.type === 'tool-result') answered.add(part.callId)
    const open = content.filter(
      (part): part is ToolCallPart => isCall(part) && part.providerExecuted === true && !answered.has(part.callId),
    )
    if (open.length > 0) awaited.set(at, open)
  }
  return awaited
}

/** The tool calls of the last assistant message that our own tools answer and that have no result yet, whatever was said since. */
export function pendingParts(messages: readonly Message[]): ToolCallPart[] {
  let answered: Set<string> | undefined
  for (let i = messages.length - 1; i >= 0; i--) {
    const { role, content } = messages[i] as Message
    if (typeof content === 'string') {
      if (role === 'assistant') return []
      continue
    }
    for (const part of content) if (part.type === 'tool-result') (answered ??= new Set()).add(part.callId)
    if (role === 'assistant')
      return content.filter(
        (part): part is ToolCallPart =>
          isCall(part) && part.providerExecuted !== true && answered?.has(part.callId) !== true,
      )
  }
  return []
}

/**
 * Puts results behind the calls that they answer, in the order of the calls: those of one answer stand in one message.
 * Gives the place of that message.
 */
export function answerCalls(messages: Message[], results: readonly ToolResultPart[]): number | undefined {
  if (results.length === 0) return undefined
  const answerIndex = messages.findLastIndex(({ role }) => role === 'assistant')
  const next = messages[answerIndex + 1]
  if (answerIndex < 0 || next?.role !== 'tool' || typeof next.content === 'string') {
    const at = answerIndex < 0 ? messages.length : answerIndex + 1
    messages.splice(at, 0, { role: 'tool', content: [...results] })
    return at
  }
  const calls = (messages[answerIndex] as Message).content as Part[]
  const positions = new Map(calls.filter(isCall).map(({ callId }, i) => [callId, i]))
  const content = [...next.content, ...results] as ToolResultPart[]
  content.sort((a, b) => (positions.get(a.callId) ?? 0) - (positions.get(b.callId) ?? 0))
  messages[answerIndex + 1] = { ...next, content }
  return answerIndex + 1
}

/** The traps of a view; a class, so that a view costs one small object. */
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
    'The history is append-only: use push(), or change ctx.messages, which is what the model is sent.',
  )
}

function missingResult({ callId, name }: ToolCallPart): ToolResultPart {
  return { type: 'tool-result', callId, name, content: 'The provider sent no result.', isError: true, missing: true }
}

function isCall(part: Part): part is ToolCallPart {
  return part.type === 'tool-call'
}
