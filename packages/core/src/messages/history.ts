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
  #view: ReadonlyHistory | undefined

  /** Adds a message that the core made itself. */
  append(message: Message): void {
    this.items.push(message)
  }

  /** Adds messages as copies. */
  push(messages: readonly Message[]): void {
    for (const message of messages) this.append(copyMessage(message))
  }

  /** Replaces or removes the answer; only the core may. */
  replace(index: number, message: Message | undefined): void {
    if (message === undefined) this.items.splice(index, 1)
    else this.items[index] = message
  }

  /** Copies of the messages from an index on. */
  since(index: number): Message[] {
    return this.items.slice(index).map(copyMessage)
  }

  reset(messages: readonly Message[]): void {
    this.items.length = 0
    this.push(messages)
  }

  /** Tool calls of the last assistant message that have no result yet. */
  pending(): ToolCallPart[] {
    const answered: string[] = []
    for (let i = this.items.length - 1; i >= 0; i--) {
      const { role, content } = this.items[i] as Message
      if (role === 'user' || typeof content === 'string') return []
      for (const part of content) if (part.type === 'tool-result') answered.push(part.callId)
      if (role === 'assistant')
        return content.filter((part) => isCall(part) && !answered.includes(part.callId)) as ToolCallPart[]
    }
    return []
  }

  /** Gives each call that waits a result: it was not approved. */
  closePending(): void {
    const content = this.pending().map(
      ({ callId, name }): ToolResultPart => ({
        type: 'tool-result',
        callId,
        name,
        content: 'Not approved.',
        isError: true,
      }),
    )
    if (content.length > 0) this.append({ role: 'tool', content })
  }

  /** What layers and callers get. A proxy, made once, because a plain array could be rewritten. */
  get view(): ReadonlyHistory {
    this.#view ??= new Proxy(this.items, appendOnly) as unknown as ReadonlyHistory
    return this.#view
  }
}

const appendOnly: ProxyHandler<Message[]> = {
  get(items, key) {
    if (key === 'push') return (...messages: Message[]) => pushAll(items, messages)
    const value: unknown = Reflect.get(items, key)
    if (typeof value === 'function') return writers.has(key) ? refuse : value
    return freezeJson(value)
  },
  set: refuse,
  deleteProperty: refuse,
  defineProperty: refuse,
  setPrototypeOf: refuse,
}

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

function isCall(part: Part): part is ToolCallPart {
  return part.type === 'tool-call'
}
