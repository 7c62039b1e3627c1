import type { CallTypes } from '@allium/core'
import type { ClientInput, ClientRun, ClientSession } from '@allium/server/client'
import { hasCode, isClientError, toChatError } from './chat-error.ts'
import type { ChatOptions } from './chat-options.ts'
import { dueDecisions, type SentDecisions } from './decisions.ts'
import type { OutboxItem } from './outbox.ts'
import type { SessionData } from './session-data.ts'
import { sleep } from './sleep.ts'

/** Does what is due in a session, one request at a time: read it, send decisions, send inputs. */
export class SessionWorker<K extends CallTypes, S> {
  readonly #session: ClientSession<K, S>
  readonly #clientTools: ChatOptions['clientTools']
  readonly #data: SessionData
  readonly #signal: AbortSignal
  #isLoaded = false
  #isWorking = false
  #hasNews = false

  constructor(
    session: ClientSession<K, S>,
    data: SessionData,
    { clientTools }: Pick<ChatOptions, 'clientTools'>,
    signal: AbortSignal,
  ) {
    this.#session = session
    this.#data = data
    this.#clientTools = clientTools
    this.#signal = signal
  }

  async work(): Promise<void> {
    // A listener may add an input while the last step ends.
    this.#hasNews = true
    if (this.#isWorking || this.#signal.aborted) return
    this.#isWorking = true
    try {
      while (this.#hasNews) {
        this.#hasNews = false
        while (!this.#signal.aborted && (await this.#step()));
      }
    } catch (error) {
      this.#isLoaded = false
      if (!this.#signal.aborted) this.#data.fail(toChatError(error))
    } finally {
      this.#isWorking = false
    }
  }

  /** Returns false if nothing is due. */
  async #step(): Promise<boolean> {
    const { transcript, outbox, decisions } = this.#data
    if (!this.#isLoaded) {
      await this.#load()
      this.#isLoaded = true
      return true
    }
    const [decision] = decisions
    if (decision !== undefined) {
      await this.#decide(decision)
      return true
    }
    const isSuspended = transcript.pending.length > 0
    const input = this.#data.isHeld ? undefined : isSuspended ? outbox.nextEdit : outbox.next
    if (input === undefined) {
      this.#data.set({ status: isSuspended ? 'suspended' : 'idle' })
      return false
    }
    await this.#run(input)
    return true
  }

  async #load(): Promise<void> {
    if (this.#data.transcript.messages.length === 0) this.#data.set({ status: 'loading' })
    const attempted = this.#data.outbox.items.find(({ mode, state }) => mode === 'queue' && state === 'sending')
    if (attempted !== undefined) await this.#confirm(attempted)
    else await this.#follow()
  }

  /** Reads the history and the active run. Returns whether there was one. */
  async #follow(): Promise<boolean> {
    const { transcript, outbox } = this.#data
    const isRunning = await this.#readHistory()
    if (isRunning) await this.#read(this.#session.follow({ signal: this.#signal }))
    else outbox.settleSteers()
    if (!isRunning && transcript.pending.length > 0) await this.#describePending()
    return isRunning
  }

  /** Returns whether a run is active. */
  async #readHistory(): Promise<boolean> {
    const history = await this.#session.history().catch((error) => {
      if (hasCode(error, 'session.not_found')) return { messages: [], running: false }
      throw error
    })
    // The session may have been closed and opened again meanwhile.
    this.#signal.throwIfAborted()
    this.#data.transcript.load(history)
    for (const id of this.#data.transcript.steers) this.#data.outbox.remove(id)
    this.#data.publish()
    return history.running
  }

  /** The history has no reasons of pending calls. The events of the last run do. */
  async #describePending(): Promise<void> {
    const { transcript } = this.#data
    await this.#session.follow({ signal: this.#signal }).then(
      ({ pending }) => transcript.describePending(pending),
      () => {},
    )
  }

  /**
   * Sends an input again whose outcome is unknown. Its idempotency key returns the run that it started, if it did. The history then
   * has the input already, and the answer too if the run has ended.
   */
  async #confirm(item: OutboxItem): Promise<void> {
    const run = this.#request(item)
    let isRunning = true
    await this.#guardInput(item, () =>
      this.#read(run, async () => {
        this.#data.outbox.remove(item.id)
        isRunning = await this.#readHistory()
        return isRunning
      }),
    )
    if (!isRunning && this.#data.transcript.pending.length > 0) await this.#describePending()
  }

  async #run(item: OutboxItem): Promise<void> {
    this.#data.outbox.update(item.id, { state: 'sending' })
    this.#data.set({ status: 'sending' })
    const run = this.#request(item)
    await this.#guardInput(item, () =>
      this.#read(run, async () => {
        this.#data.outbox.remove(item.id)
        this.#data.transcript.addItem(item)
        return true
      }),
    )
  }

  #request({ id, input, messageId = id, again }: OutboxItem): ClientRun<K> {
    const options = { idempotencyKey: id, signal: this.#signal, clientTools: this.#clientTools }
    return again ? this.#session.regenerate(messageId, options) : this.#session.run(input, { ...options, messageId })
  }

  /** Keeps the input if its request or run fails. */
  async #guardInput(item: OutboxItem, read: () => Promise<void>): Promise<void> {
    const { transcript, outbox } = this.#data
    try {
      await read()
    } catch (error) {
      // Without a response, the outcome is unknown: the input keeps its key and is sent again.
      if (this.#signal.aborted || !isClientError(error)) throw error
      if (hasCode(error, 'session.busy')) return this.#waitForRun(item, error.retryAfter)
      await this.#readHistory()
      transcript.fail()
      if (transcript.hasStored(item)) {
        this.#data.failedItem = item
        outbox.remove(item.id)
      }
      // The server may return the failed run for the same key.
      else outbox.putBack(item.id, { ...item, id: crypto.randomUUID(), state: 'unsent' })
      throw error
    }
  }

  /** A run of another page is active. */
  async #waitForRun({ id }: OutboxItem, delay = 1000): Promise<void> {
    this.#data.outbox.update(id, { state: 'queued' })
    const hasFollowed = await this.#follow()
    this.#data.publish()
    await sleep(hasFollowed ? Math.min(delay, 100) : delay, this.#signal)
  }

  async #decide(sent: SentDecisions): Promise<void> {
    const { transcript } = this.#data
    const decisions = dueDecisions(sent, transcript.pending)
    if (decisions === undefined) return this.#data.removeDecisions(sent)
    this.#data.set({ status: 'sending' })
    const run = this.#session.resume(decisions, { idempotencyKey: sent.key, signal: this.#signal })
    try {
      await this.#read(run, async () => {
        this.#data.removeDecisions(sent)
        transcript.removePending(Object.keys(decisions))
        return true
      })
    } catch (error) {
      if (!isClientError(error)) throw error
      this.#data.removeDecisions(sent)
      await this.#readHistory()
      throw error
    }
  }

  /** Reads a run. `accept` is called with its first event, and returns whether the events are new. */
  async #read(run: ClientRun<K>, accept = async () => true): Promise<void> {
    const { transcript, outbox } = this.#data
    let isNew: boolean | undefined
    try {
      for await (const event of run) {
        if (this.#signal.aborted) return
        if (isNew === undefined) {
          isNew = await accept()
          this.#begun()
        }
        if (event.type === 'steer:delivered') outbox.update(event.id, { mode: 'steer', state: 'delivered' })
        if (event.type === 'steer:rejected') outbox.update(event.id, { mode: 'queue', state: 'queued' })
        if (isNew) transcript.apply(event as never, (id) => outbox.textOf(id))
        this.#data.publishSoon()
      }
    } catch (error) {
      // The client has given up reconnecting. The run continues on the server.
      throw hasCode(error, 'run.interrupted') ? new Error('The connection was lost.', { cause: error }) : error
    }
    outbox.settleSteers()
    this.#data.publish()
    // A run whose events are gone has no answer.
    if (isNew !== undefined) await run
  }

  #begun(): void {
    // A run cannot be stopped before the server has accepted it.
    if (this.#data.status === 'stopping') void this.#session.stop().catch(() => {})
    else this.#data.set({ status: 'streaming' })
  }
}

/** Returns the input as an item of the outbox. */
export function queuedItem(input: ClientInput): OutboxItem {
  return { id: crypto.randomUUID(), input, mode: 'queue', state: 'queued' }
}
