import type { CallTypes } from '@allium/core'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { Answer, ClientEvent, ClientRun } from './events.ts'
import { type Call, ClientError, request, type Wire } from './http.ts'
import { type OutputSchema, outputOf } from './output.ts'

/** Where a run is asked for, and where its events are found again. */
export interface RunCall {
  readonly path: string
  readonly call: Call
  /** Where a reader who has lost the connection goes on. */
  readonly events: string
  /** What its answer must be. */
  readonly output?: OutputSchema | undefined
}

/** Asks for a run when it is read or awaited; both are one request. */
export function clientRun<K extends CallTypes, O>(wire: Wire, asked: RunCall): ClientRun<K, O> {
  let read: Events<K, O> | undefined
  const events = () => (read ??= new Events<K, O>(wire, asked))
  return {
    [Symbol.asyncIterator]: () => events().iterate(),
    // biome-ignore lint/suspicious/noThenProperty: a run is awaited for its answer, as in core
    then: (fulfilled, rejected) => events().answer().then(fulfilled, rejected),
  }
}

/** The events of a run, read once and kept for whoever asks. */
class Events<K extends CallTypes, O> {
  readonly #read: ClientEvent<K>[] = []
  readonly #wire: Wire
  readonly #asked: RunCall
  readonly #all: Promise<void>
  #wake: (() => void)[] = []
  #isOver = false

  constructor(wire: Wire, asked: RunCall) {
    this.#wire = wire
    this.#asked = asked
    this.#all = this.#follow()
    this.#all.catch(() => {})
  }

  async *iterate(): AsyncGenerator<ClientEvent<K>, undefined> {
    for (let at = 0; ; at++) {
      while (at >= this.#read.length && !this.#isOver) await new Promise<void>((resolve) => this.#wake.push(resolve))
      if (at >= this.#read.length) break
      yield this.#read[at] as ClientEvent<K>
    }
    await this.#all
    return undefined
  }

  /** @throws ClientError for a run that has failed */
  async answer(): Promise<Answer<K, O>> {
    await this.#all
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
      throw new ClientError('The events of the run are kept no longer.', { code: 'run.interrupted' })
    const { sessionId, turnId, status, usage, pending = [] } = end
    const why = { ...(end.reason && { reason: end.reason }), ...(end.code && { code: end.code }) }
    const output = status === 'completed' ? await outputOf(this.#asked.output, text) : null
    return { sessionId, turnId, status, text, output: output as O | null, usage, ...why, pending }
  }

  async #follow(): Promise<void> {
    try {
      await this.#connect()
    } finally {
      this.#isOver = true
      this.#rouse()
    }
  }

  /** A connection that ends before the run does, or is cut after, is made anew behind the last event that has come. */
  async #connect(): Promise<void> {
    const { path, call, events } = this.#asked
    let last: string | undefined
    for (let failures = 0; failures < this.#wire.attempts; failures++) {
      if (failures > 0) await this.#wire.wait(failures)
      const response =
        last === undefined
          ? await request(this.#wire, path, { ...call, headers: { ...call.headers, accept } })
          : await request(this.#wire, events, { headers: { accept, 'last-event-id': last }, signal: call.signal })
      if (response.status === 204) return
      const before = last
      const isWhole = await this.#take(response, (id) => (last = id)).catch((error) => {
        if (call.signal?.aborted) throw error
        return false
      })
      if (isWhole && this.#hasEnd()) return
      if (last !== before) failures = 0
    }
    throw new ClientError('The connection was lost repeatedly.', { code: 'run.interrupted' })
  }

  async #take(response: Response, came: (id: string) => void): Promise<true> {
    const decoded = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream() as never)
    const reader = (decoded as ReadableStream<string>).pipeThrough(new EventSourceParserStream()).getReader()
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const { id, data } = next.value
      this.#read.push(JSON.parse(data))
      if (id !== undefined) came(id)
      this.#rouse()
    }
    return true
  }

  /** The error of a run that has failed follows its end. */
  #hasEnd(): boolean {
    return (this.#read as ClientEvent[]).some((event) => {
      if ('path' in event && event.path !== undefined) return false
      return event.type === 'run:error' || (event.type === 'turn:end' && event.status !== 'failed')
    })
  }

  #rouse(): void {
    const waiting = this.#wake
    this.#wake = []
    for (const wake of waiting) wake()
  }
}

const accept = 'text/event-stream'
