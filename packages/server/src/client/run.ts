import type { CallTypes } from '@allium/core'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { Answer, ClientEvent, ClientRun } from './events.ts'
import { ClientError, type HttpCall, request, type Transport } from './http.ts'
import { type OutputSchema, outputOf } from './output.ts'

/** The request of a run, and the path of its events. */
export interface RunCall {
  readonly path: string
  readonly call: HttpCall
  /** The path at which a reader resumes after a lost connection. */
  readonly events: string
  /** The schema of the answer. */
  readonly output?: OutputSchema | undefined
}

/** Requests a run when it is first read or awaited. Both share one request. */
export function clientRun<K extends CallTypes, O>(transport: Transport, runCall: RunCall): ClientRun<K, O> {
  let read: Events<K, O> | undefined
  const events = () => (read ??= new Events<K, O>(transport, runCall))
  return {
    [Symbol.asyncIterator]: () => events().iterate(),
    // biome-ignore lint/suspicious/noThenProperty: a run is awaited for its answer, as in core
    then: (fulfilled, rejected) => events().answer().then(fulfilled, rejected),
  }
}

/** The events of a run, read once and kept for all readers. */
class Events<K extends CallTypes, O> {
  readonly #read: ClientEvent<K>[] = []
  readonly #transport: Transport
  readonly #runCall: RunCall
  readonly #completed: Promise<void>
  #waiters: (() => void)[] = []
  #isOver = false

  constructor(transport: Transport, runCall: RunCall) {
    this.#transport = transport
    this.#runCall = runCall
    this.#completed = this.#follow()
    this.#completed.catch(() => {})
  }

  async *iterate(): AsyncGenerator<ClientEvent<K>, undefined> {
    for (let index = 0; ; index++) {
      while (index >= this.#read.length && !this.#isOver)
        await new Promise<void>((resolve) => this.#waiters.push(resolve))
      if (index >= this.#read.length) break
      yield this.#read[index] as ClientEvent<K>
    }
    await this.#completed
    return undefined
  }

  /** @throws ClientError if the run failed */
  async answer(): Promise<Answer<K, O>> {
    await this.#completed
    let text = ''
    for (const event of this.#read as ClientEvent[]) {
      if ('path' in event && event.path !== undefined) continue
      if (event.type === 'step:start' || event.type === 'model:reset') text = ''
      if (event.type === 'text-delta') text += (event as { delta: string }).delta
    }
    const error = this.#read.find(({ type }) => type === 'run:error') as { code: string; message: string } | undefined
    if (error !== undefined) throw new ClientError(error.message, error)
    const end = this.#read.findLast(({ type }) => type === 'turn:end') as Omit<Answer<K>, 'text' | 'output'> | undefined
    if (end === undefined)
      throw new ClientError('The events of the run are no longer stored.', { code: 'run.interrupted' })
    const { sessionId, turnId, status, usage, pending = [] } = end
    const block = { ...(end.reason && { reason: end.reason }), ...(end.code && { code: end.code }) }
    const output = status === 'completed' ? await outputOf(this.#runCall.output, text) : null
    return { sessionId, turnId, status, text, output: output as O | null, usage, ...block, pending }
  }

  async #follow(): Promise<void> {
    try {
      await this.#connect()
    } finally {
      this.#isOver = true
      this.#notify()
    }
  }

  /** Reconnects after the last received event if the connection ends before the run does, or is cut. */
  async #connect(): Promise<void> {
    const { path, call, events } = this.#runCall
    let last: string | undefined
    for (let failures = 0; failures < this.#transport.attempts; failures++) {
      if (failures > 0) await this.#transport.wait(failures)
      const response =
        last === undefined
          ? await request(this.#transport, path, { ...call, headers: { ...call.headers, accept } })
          : await request(this.#transport, events, { headers: { accept, 'last-event-id': last }, signal: call.signal })
      if (response.status === 204) return
      const previous = last
      const isComplete = await this.#readEvents(response, (id) => (last = id)).catch((error) => {
        if (call.signal?.aborted) throw error
        return false
      })
      if (isComplete && this.#hasEnd()) return
      if (last !== previous) failures = 0
    }
    throw new ClientError('The connection was lost repeatedly.', { code: 'run.interrupted' })
  }

  async #readEvents(response: Response, onEventId: (id: string) => void): Promise<true> {
    const decoded = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream() as never)
    const reader = (decoded as ReadableStream<string>).pipeThrough(new EventSourceParserStream()).getReader()
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const { id, data } = next.value
      this.#read.push(JSON.parse(data))
      if (id !== undefined) onEventId(id)
      this.#notify()
    }
    return true
  }

  /** The error of a failed run follows its end. */
  #hasEnd(): boolean {
    return (this.#read as ClientEvent[]).some((event) => {
      if ('path' in event && event.path !== undefined) return false
      return event.type === 'run:error' || (event.type === 'turn:end' && event.status !== 'failed')
    })
  }

  #notify(): void {
    const waiters = this.#waiters
    this.#waiters = []
    for (const wake of waiters) wake()
  }
}

const accept = 'text/event-stream'
