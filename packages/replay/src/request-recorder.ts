import type { Message, ModelContext } from '@allium/core'
import type { RecordedMessages, RecordedRequest } from './recorded-turn.ts'

type Place = { readonly of: 'history' | 'before'; readonly at: number }

/** Records requests as differences: messages of the history and of the request before are references. */
export class RequestRecorder {
  readonly requests: RecordedRequest[] = []
  readonly #history = new Map<Readonly<Message>, number>()
  #before: ModelContext['request'] | undefined
  #placesBefore = new Map<Readonly<Message>, number>()

  constructor(history: readonly Readonly<Message>[]) {
    for (const [at, message] of history.entries()) this.#history.set(message, at)
  }

  add({ turnId, callIndex, attempt, model, request }: ModelContext): void {
    const before = this.#before
    const changed = <K extends 'tools' | 'settings' | 'toolChoice' | 'responseFormat'>(key: K) =>
      before !== undefined && isSame(before[key], request[key]) ? {} : { [key]: request[key] }
    this.requests.push({
      ...{ turnId, call: callIndex, attempt, model, messages: this.#referencesTo(request.messages) },
      ...changed('tools'),
      ...changed('settings'),
      ...changed('toolChoice'),
      ...changed('responseFormat'),
    })
    this.#before = request
    this.#placesBefore = new Map(request.messages.map((message, at) => [message, at]))
  }

  /** Consecutive messages of one place become one reference. */
  #referencesTo(messages: readonly Readonly<Message>[]): RecordedMessages[] {
    const parts: RecordedMessages[] = []
    for (const [at, message] of messages.entries()) {
      const place = this.#placeOf(message, at)
      const last = parts.at(-1)
      if (place === undefined) {
        if (last !== undefined && 'messages' in last) parts.splice(-1, 1, { messages: [...last.messages, message] })
        else parts.push({ messages: [message] })
      } else if (last !== undefined && 'of' in last && last.of === place.of && last.from + last.count === place.at)
        parts.splice(-1, 1, { ...last, count: last.count + 1 })
      else parts.push({ of: place.of, from: place.at, count: 1 })
    }
    return parts
  }

  #placeOf(message: Readonly<Message>, at: number): Place | undefined {
    // Instructions are a new object in each call.
    if (isSameText(this.#before?.messages[at], message)) return { of: 'before', at }
    const before = this.#placesBefore.get(message)
    if (before !== undefined) return { of: 'before', at: before }
    const inHistory = this.#history.get(message)
    return inHistory === undefined ? undefined : { of: 'history', at: inHistory }
  }
}

/** Whether two fields are the same objects, or lists of the same objects. Copies that layers make count as changes. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!Array.isArray(a) || !Array.isArray(b)) return false
  return a.length === b.length && a.every((item, at) => item === b[at])
}

function isSameText(a: Readonly<Message> | undefined, { role, content }: Readonly<Message>): boolean {
  return role === 'system' && a?.role === 'system' && a.content === content
}
