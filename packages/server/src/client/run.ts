import type { CallTypes } from '@allium/core'
import type { RunError } from '@allium/store/event-log'
import { createParser } from 'eventsource-parser'
import type { Answer, ClientEvent, ClientRun } from './events.ts'
import { ClientError, type HttpCall, retry, sendOnce, type Transport } from './http.ts'
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
    catch: (rejected) => events().answer().catch(rejected),
    finally: (settled) => events().answer().finally(settled),
  }
}

/** The events of a run, read once and kept for all readers. */
class Events<K extends CallTypes, O> {
  readonly #read: ClientEvent<K>[] = []
  readonly #transport: Transport
  readonly #runCall: RunCall
  readonly #completed: Promise<void>
  readonly #waiters: (() => void)[] = []
  #isOver = false
  #lastEventId: string | undefined
  /** The text of the last step. */
  #text = ''
  #end: Omit<Answer<K>, 'text' | 'output'> | undefined
  /** The last event of a failed run. */
  #error: RunError | undefined
  #disarm = () => {}
  /** Milliseconds without a byte after which a connection counts as lost. 0 until the server has stated its heartbeat. */
  #maxSilence = 0

  constructor(transport: Transport, runCall: RunCall) {
    this.#transport = transport
    this.#runCall = runCall
    const connect = (startAgain: () => void) => this.#connect(startAgain)
    this.#completed = retry(transport, runCall.call.signal, connect).finally(() => {
      this.#isOver = true
      this.#notify()
    })
    this.#completed.catch(() => {})
  }

  async *iterate(): AsyncGenerator<ClientEvent<K>, undefined> {
    for (let index = 0; index < this.#read.length || !this.#isOver; )
      if (index < this.#read.length) yield this.#read[index++] as ClientEvent<K>
      else await new Promise<void>((resolve) => this.#waiters.push(resolve))
    await this.#completed
    return undefined
  }

  /** @throws ClientError if the run failed */
  async answer(): Promise<Answer<K, O>> {
    await this.#completed
    if (this.#error !== undefined) throw new ClientError(this.#error.message, this.#error)
    if (this.#end === undefined)
      throw new ClientError('The events of the run are no longer stored.', { code: 'run.interrupted' })
    const { sessionId, turnId, status, usage, reason, code, pending = [] } = this.#end
    const output = status === 'completed' ? await outputOf(this.#runCall.output, this.#text) : null
    return { sessionId, turnId, status, text: this.#text, output: output as O | null, usage, reason, code, pending }
  }

  /** Reads the run from after the last received event to its end. @throws ClientError if the connection ends before */
  async #connect(onEvent: () => void): Promise<void> {
    const { path, call, events } = this.#runCall
    const connection = new AbortController()
    const { signal } = connection
    const abort = () => connection.abort(call.signal?.reason)
    call.signal?.throwIfAborted()
    call.signal?.addEventListener('abort', abort, { signal })
    try {
      this.#arm(abort)
      const resumed = { headers: { accept, 'last-event-id': this.#lastEventId ?? '' }, signal }
      const response = await (this.#lastEventId === undefined
        ? sendOnce(this.#transport, path, { ...call, headers: { ...call.headers, accept }, signal })
        : sendOnce(this.#transport, events, resumed))
      if (response.status === 204) return
      // A connection that is cut may also look complete, so only the events tell.
      await this.#readEvents(response, onEvent, abort).catch(() => {})
      call.signal?.throwIfAborted()
      if ((this.#end ?? this.#error) === undefined)
        throw new ClientError('The connection was lost repeatedly.', { code: 'run.interrupted' })
    } finally {
      this.#disarm()
      abort()
    }
  }

  async #readEvents(response: Response, onEvent: () => void, abort: () => void): Promise<void> {
    const parser = createParser({
      onEvent: ({ id, data }) => {
        this.#receive(JSON.parse(data))
        this.#lastEventId = id ?? this.#lastEventId
        onEvent()
      },
      onComment: (comment) => {
        const [, heartbeat] = /^heartbeat (\d{1,8})/.exec(comment) ?? []
        if (heartbeat !== undefined) this.#maxSilence = 3 * Number(heartbeat)
      },
    })
    const decoded = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream() as never)
    const reader = (decoded as ReadableStream<string>).getReader()
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      parser.feed(next.value)
      this.#arm(abort)
    }
  }

  /** Aborts a connection that stays silent from now on. */
  #arm(abort: () => void): void {
    this.#disarm()
    if (this.#maxSilence > 0) this.#disarm = this.#transport.clock.after(this.#maxSilence, abort)
  }

  #receive(event: ClientEvent<K>): void {
    this.#read.push(event)
    this.#notify()
    const { type, path, delta, status } = event as { type: string; path?: unknown; delta?: string; status?: string }
    if (path !== undefined) return
    if (type === 'step:start' || type === 'model:reset') this.#text = ''
    if (type === 'text-delta') this.#text += delta
    if (type === 'turn:end' && status !== 'failed') this.#end = event as never
    if (type === 'run:error') this.#error = event as never
  }

  #notify(): void {
    for (const wake of this.#waiters.splice(0)) wake()
  }
}

const accept = 'text/event-stream'
