import type { CallTypes, Decision } from '@allium/core'
import type { ClientInput, ClientSession } from '@allium/server/client'
import { hasCode, toChatError } from './chat-error.ts'
import { messageText } from './chat-message.ts'
import type { ChatOptions } from './chat-options.ts'
import type { ChatState } from './chat-state.ts'
import { isEmptyInput } from './input.ts'
import { type ChatStorage, Outbox } from './outbox.ts'
import { SessionData } from './session-data.ts'
import { queuedItem, SessionWorker } from './session-worker.ts'

/** A call to decide, of `pending`. */
type Call = { readonly callId: string }

/**
 * The state of a session on a server, without React. It loads with its first subscriber, and disconnects after the last one has left.
 * The run on the server continues. No method rejects: errors are in `getSnapshot().error`.
 */
export class ChatStore<K extends CallTypes = CallTypes, S = Record<string, unknown>> {
  readonly #options: ChatOptions<K, S>
  readonly #session: ClientSession<K, S>
  readonly #data: SessionData
  readonly #listeners = new Set<() => void>()
  readonly #initial: ChatState<K>
  #state: ChatState<K>
  #connection: AbortController | undefined
  #worker: SessionWorker<K, S> | undefined

  constructor(options: ChatOptions<K, S>) {
    const { client, sessionId, initialHistory, storage, throttle = 30 } = options
    this.#options = options
    this.#session = client.session(sessionId)
    this.#data = new SessionData(new Outbox(sessionId, storageOf(storage)), throttle, (state) => this.#notify(state))
    if (initialHistory !== undefined) this.#data.transcript.load(initialHistory)
    this.#initial = this.#data.snapshot() as ChatState<K>
    this.#state = this.#initial
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    if (this.#connection === undefined) this.#open()
    return () => {
      this.#listeners.delete(listener)
      // Under StrictMode, and when it is moved, a component subscribes again at once.
      setTimeout(() => this.#listeners.size === 0 && this.#close())
    }
  }

  readonly getSnapshot = (): ChatState<K> => this.#state
  /** Returns the state before the session is loaded, for a render on a server and for hydration. */
  readonly getServerSnapshot = (): ChatState<K> => this.#initial

  /** Sends an input, or queues it until the active run has ended. Ignores an empty text. */
  readonly send = (input: ClientInput): void => {
    if (isEmptyInput(input)) return
    this.#data.outbox.add(queuedItem(input))
    this.#continue()
  }

  /**
   * Replaces a message of the user, and everything after it, once the active run has ended. The server keeps the former conversation as
   * another session. Pending calls are not approved.
   */
  readonly edit = (messageId: string, input: ClientInput): void => {
    if (isEmptyInput(input)) return
    this.#data.outbox.add({ ...queuedItem(input), messageId })
    this.#continue()
  }

  /** Answers the last message of the user again, once the active run has ended. Like `edit()`, it replaces what follows the message. */
  readonly regenerate = (): void => {
    const message = this.#data.transcript.messages.findLast(({ role }) => role === 'user')
    if (message === undefined) return
    this.#data.outbox.add({ ...queuedItem(messageText(message)), messageId: message.id, again: true })
    this.#continue()
  }

  /** Sends a message to the active run. If the run can no longer receive it, the message becomes the next input. */
  readonly steer = async (input: ClientInput): Promise<void> => {
    if (this.#data.status !== 'streaming') return this.send(input)
    if (isEmptyInput(input)) return
    const { id } = this.#data.outbox.add({ ...queuedItem(input), mode: 'steer', state: 'sending' })
    this.#data.publish()
    try {
      await this.#session.steer(input, { id })
    } catch (error) {
      if (!hasCode(error, 'run.not_running')) this.#data.error = toChatError(error)
      this.#data.outbox.update(id, { mode: 'queue', state: 'queued' })
      this.#work()
    }
  }

  /** Stops the active run. Queued inputs wait for `retry()` or the next `send()`. */
  readonly stop = async (): Promise<void> => {
    const { status } = this.#data
    if (status !== 'streaming' && status !== 'sending') return
    this.#data.isHeld = true
    this.#data.set({ status: 'stopping' })
    try {
      await this.#session.stop()
    } catch (error) {
      if (hasCode(error, 'run.not_running', 'session.not_found')) return
      this.#data.error = toChatError(error)
      this.#data.publish()
    }
  }

  /** Approves a pending call. */
  readonly approve = ({ callId }: Call): void => this.resume({ [callId]: { approve: true } })

  /** Denies a pending call. The model receives the reason. */
  readonly deny = ({ callId }: Call, reason = 'The user denied this call.'): void =>
    this.resume({ [callId]: { deny: reason } })

  /** Sends decisions about pending calls, or results of tools that run in the page, by call id. */
  readonly resume = (decisions: Readonly<Record<string, Decision>>): void => {
    this.#data.decisions = [...this.#data.decisions, { key: crypto.randomUUID(), decisions }]
    this.#continue()
  }

  /**
   * Continues after an error or `stop()`. Reads the session again, then sends what was not confirmed, without running it twice. If a run
   * has failed, sends its input again as a new run.
   */
  readonly retry = (): void => {
    const { failedItem } = this.#data
    if (failedItem !== undefined) {
      const { id, input, messageId = id } = failedItem
      this.#data.outbox.add({ ...queuedItem(input), messageId, again: true }, 'first')
    }
    this.#continue()
  }

  /**
   * Takes an unsent input out of the queue, and returns it. Returns undefined if it was sent already. If its request failed without a
   * response, the server may have received it nevertheless.
   */
  readonly removeQueued = (id: string): ClientInput | undefined => {
    const { outbox, status } = this.#data
    const item = outbox.items.find((one) => (one.id === id || one.messageId === id) && one.mode === 'queue')
    if (item === undefined || (item.state === 'sending' && status !== 'failed')) return undefined
    outbox.remove(item.id)
    this.#data.publish()
    return item.input
  }

  /** Keeps the text of the composer, through a reload of the page. */
  readonly setDraft = (draft: string): void => {
    this.#data.outbox.write(draft)
    this.#data.publish()
  }

  #open(): void {
    this.#connection = new AbortController()
    this.#worker = new SessionWorker(this.#session, this.#data, this.#options, this.#connection.signal)
    this.#data.outbox.restore()
    globalThis.addEventListener?.('online', this.#reconnect)
    this.#continue()
  }

  #close(): void {
    globalThis.removeEventListener?.('online', this.#reconnect)
    this.#connection?.abort()
    this.#connection = undefined
    this.#worker = undefined
  }

  readonly #reconnect = (): void => {
    if (this.#data.error?.code === 'connection.lost') this.retry()
  }

  #continue(): void {
    this.#data.isHeld = false
    this.#data.error = undefined
    this.#data.failedItem = undefined
    this.#work()
  }

  #work(): void {
    this.#data.publish()
    void this.#worker?.work()
  }

  #notify(state: ChatState): void {
    this.#state = state as ChatState<K>
    for (const listener of this.#listeners) listener()
  }
}

function storageOf(storage: ChatStorage | null | undefined): ChatStorage | undefined {
  if (storage !== undefined) return storage ?? undefined
  try {
    return globalThis.sessionStorage
  } catch {
    return undefined
  }
}
