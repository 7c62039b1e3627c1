import type { PendingCall, StreamEvent, Usage } from '@allium/core'
import type { RunError } from '@allium/store/event-log'
import type { Frame } from '../http/sse.ts'
import type { FrameWriter } from '../response/stream.ts'
import type { WireCall } from './client-tool-calls.ts'
import {
  callItem,
  lastItemStatus,
  messageItem,
  type ResponseMeta,
  type ResponseState,
  responseOf,
  statusOf,
  textPart,
} from './response.ts'

/**
 * Writes a run as the events of a response: https://www.openresponses.org/specification. The texts of a step are one message. Calls of
 * the agent's tools are left out, because a client would run them. The calls of the client's tools come at the end.
 */
export function responseFrames(meta: ResponseMeta, { now, idOf, clientCallsIn }: ResponseFrames): FrameWriter {
  const writer = new Writer(meta, now, idOf)
  return {
    async prepare(pending) {
      writer.pending = pending
      writer.calls = await clientCallsIn(pending)
    },
    write({ event }) {
      return 'path' in event && event.path !== undefined ? [] : writer.write(event as StreamEvent | RunError)
    },
    end: () => [{ data: '[DONE]' }],
    isDone: () => writer.done,
  }
}

interface ResponseFrames {
  /** Seconds since the epoch. */
  now(): number
  idOf(turnId: string): string
  /** Returns the pending calls that the client must run. */
  clientCallsIn(pending: readonly PendingCall[]): Promise<readonly WireCall[]>
}

class Writer {
  done = false
  pending: readonly PendingCall[] = []
  calls: readonly WireCall[] = []
  readonly #meta: ResponseMeta
  readonly #now: () => number
  readonly #idOf: (turnId: string) => string
  readonly #items: object[] = []
  #sequence = 0
  #id = ''
  #open: { id: string; text: string } | undefined
  #finish: string | undefined

  constructor(meta: ResponseMeta, now: () => number, idOf: (turnId: string) => string) {
    this.#meta = meta
    this.#now = now
    this.#idOf = idOf
  }

  *write(event: StreamEvent | RunError): Generator<Frame> {
    switch (event.type) {
      case 'turn:start':
        return yield* this.#begin(event.turnId)
      case 'text-delta':
        return yield* this.#delta(event.delta)
      case 'step:end':
        return yield* this.#close(lastItemStatus(statusOf('completed', this.#finish)))
      case 'finish':
        this.#finish = event.reason
        return
      case 'model:reset':
        return yield* this.#fail({ code: 'stream.reset', message: 'The answer was restarted. Send the request again.' })
      case 'run:error':
        return yield* this.#fail(event)
      case 'turn:end':
        return yield* this.#end(event)
    }
  }

  *#begin(turnId: string): Generator<Frame> {
    this.#id = this.#idOf(turnId)
    yield this.#snapshot('response.created', { status: 'in_progress' })
    yield this.#snapshot('response.in_progress', { status: 'in_progress' })
  }

  *#delta(delta: string): Generator<Frame> {
    if (this.#open === undefined) {
      this.#open = { id: `msg_${crypto.randomUUID()}`, text: '' }
      yield this.#frame('response.output_item.added', this.#item('in_progress', []))
      yield this.#frame('response.content_part.added', { ...this.#position(), part: textPart('') })
    }
    this.#open.text += delta
    yield this.#frame('response.output_text.delta', { ...this.#position(), delta, logprobs: [] })
  }

  *#close(status: 'completed' | 'incomplete'): Generator<Frame> {
    if (this.#open === undefined) return
    const { id, text } = this.#open
    yield this.#frame('response.output_text.done', { ...this.#position(), text, logprobs: [] })
    yield this.#frame('response.content_part.done', { ...this.#position(), part: textPart(text) })
    yield this.#frame('response.output_item.done', this.#item(status, [text]))
    this.#items.push(messageItem(id, status, [text]))
    this.#open = undefined
  }

  *#end({ status, usage }: { status: string; usage: Usage }): Generator<Frame> {
    // The error follows.
    if (status === 'failed') return
    const end = statusOf(status, this.#finish, this.pending)
    yield* this.#close(lastItemStatus(end))
    for (const call of this.calls) yield* this.#call(call)
    yield this.#snapshot(`response.${end.status}`, { ...end, ended: this.#now(), usage })
    this.done = true
  }

  *#call(call: WireCall): Generator<Frame> {
    const id = `fc_${crypto.randomUUID()}`
    const [item, args] = [callItem(call, id), call.function.arguments]
    const position = { item_id: id, output_index: this.#items.length }
    yield this.#frame('response.output_item.added', {
      output_index: this.#items.length,
      item: { ...item, status: 'in_progress', arguments: '' },
    })
    yield this.#frame('response.function_call_arguments.delta', { ...position, delta: args })
    yield this.#frame('response.function_call_arguments.done', {
      ...position,
      name: call.function.name,
      arguments: args,
    })
    yield this.#frame('response.output_item.done', { output_index: this.#items.length, item })
    this.#items.push(item)
  }

  *#fail({ code, message }: { code: string; message: string }): Generator<Frame> {
    yield* this.#close('incomplete')
    yield this.#snapshot('response.failed', { status: 'failed', error: { code, message } })
    this.done = true
  }

  #item(status: 'in_progress' | 'completed' | 'incomplete', texts: string[]): object {
    return { output_index: this.#items.length, item: messageItem(this.#open?.id ?? '', status, texts) }
  }

  #position(): object {
    return { item_id: this.#open?.id, output_index: this.#items.length, content_index: 0 }
  }

  #snapshot(type: string, state: Omit<ResponseState, 'id' | 'output'>): Frame {
    const response = responseOf(this.#meta, { ...state, id: this.#id, output: this.#items })
    return this.#frame(type, { response })
  }

  #frame(type: string, fields: object): Frame {
    return { event: type, data: JSON.stringify({ type, sequence_number: this.#sequence++, ...fields }) }
  }
}
