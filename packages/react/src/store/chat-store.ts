import type { CallTypes, Decision, ToolDef } from '@allium/core'
import type {
  AgentClient,
  ClientInput,
  ClientRun,
  ClientSession,
  PendingCall,
  SessionHistory,
} from '@allium/server/client'
import { applyEvent, withoutAttempt } from './apply-event.ts'
import { type ChatError, hasCode, isClientError, toChatError } from './chat-error.ts'
import type { ChatMessage } from './chat-message.ts'
import type { ChatState, ChatStatus } from './chat-state.ts'
import { fromHistory } from './from-history.ts'
import { type ChatStorage, Outbox, type OutboxItem } from './outbox.ts'

export interface ChatOptions<K extends CallTypes = CallTypes, S = Record<string, unknown>> {
  client: AgentClient<K, S>
  sessionId: string
  /** The history as read on the server, for the first render. @default none */
  initialHistory?: SessionHistory | undefined
  /**
   * Keeps drafts and unsent inputs through a reload of the page. `null` keeps them in memory only.
   *
   * @default `sessionStorage` of the page
   */
  storage?: ChatStorage | null | undefined
  /** Tools that run in the page. Send their results with `resume()`. @default none */
  clientTools?: readonly ToolDef[] | undefined
  /** Shortest time between two updates while text is streamed, in milliseconds. @default 30 */
  throttle?: number | undefined
}

interface PendingDecision {
  readonly key: string
  readonly decisions: Readonly<Record<string, Decision>>
}

/**
 * The state of a session on a server, without React. It loads when its first subscriber arrives, and disconnects after the last one
 * left. The run on the server continues. No method rejects: errors are in `getSnapshot().error`.
 */
export class ChatStore<K extends CallTypes = CallTypes, S = Record<string, unknown>> {
  readonly #session: ClientSession<K, S>
  readonly #options: ChatOptions<K, S>
  readonly #outbox: Outbox
  readonly #listeners = new Set<() => void>()
  readonly #initial: ChatState<K>
  #state: ChatState<K>
  /** Messages that the server has. Unsent inputs are shown after them. */
  #messages: readonly ChatMessage[] = []
  #pending: readonly PendingCall<K>[] = []
  #decisions: readonly PendingDecision[] = []
  #status: ChatStatus = 'loading'
  #error: ChatError | undefined
  #isLoaded = false
  #isHeld = false
  #isWorking = false
  #connection: AbortController | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: ChatOptions<K, S>) {
    this.#options = options
    this.#session = options.client.session(options.sessionId)
    this.#outbox = new Outbox(options.sessionId, storageOf(options.storage))
    if (options.initialHistory !== undefined) this.#messages = fromHistory(options.initialHistory)
    this.#initial = this.#snapshot()
    this.#state = this.#initial
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    if (this.#connection === undefined) this.#open()
    return () => {
      this.#listeners.delete(listener)
      // StrictMode and moved components subscribe again at once.
      setTimeout(() => this.#listeners.size === 0 && this.#close())
    }
  }

  readonly getSnapshot = (): ChatState<K> => this.#state
  readonly getServerSnapshot = (): ChatState<K> => this.#initial

  /** Sends an input, or queues it until the active run has ended. An empty text is ignored. */
  readonly send = async (input: ClientInput): Promise<void> => {
    if (isEmpty(input)) return
    this.#outbox.add({ id: crypto.randomUUID(), input, mode: 'queue', state: 'queued' })
    this.#continue()
  }

  /** Sends a message to the active run. If the run cannot receive it anymore, it becomes the next input. */
  readonly steer = async (input: ClientInput): Promise<void> => {
    if (this.#status !== 'streaming') return this.send(input)
    if (isEmpty(input)) return
    const id = crypto.randomUUID()
    this.#outbox.add({ id, input, mode: 'steer', state: 'sending' })
    this.#publish()
    try {
      await this.#session.steer(input, { id })
    } catch (error) {
      if (!hasCode(error, 'run.not_running')) this.#error = toChatError(error)
      this.#outbox.update(id, { mode: 'queue', state: 'queued' })
      this.#publish()
      void this.#work()
    }
  }

  /** Stops the active run. Queued inputs wait for `retry()` or the next `send()`. */
  readonly stop = async (): Promise<void> => {
    if (this.#status !== 'streaming' && this.#status !== 'sending') return
    this.#isHeld = true
    this.#set({ status: 'stopping' })
    try {
      await this.#session.stop()
    } catch (error) {
      // A run that was not accepted yet is stopped when its first event arrives.
      if (!hasCode(error, 'run.not_running', 'session.not_found')) this.#set({ error: toChatError(error) })
    }
  }

  /** Approves a pending call. */
  readonly approve = (call: { readonly callId: string }): Promise<void> =>
    this.resume({ [call.callId]: { approve: true } })

  /** Denies a pending call. The model receives the reason. */
  readonly deny = (call: { readonly callId: string }, reason = 'The user denied this call.'): Promise<void> =>
    this.resume({ [call.callId]: { deny: reason } })

  /** Sends decisions about pending calls, or results of tools that run in the page, by call id. */
  readonly resume = async (decisions: Readonly<Record<string, Decision>>): Promise<void> => {
    this.#decisions = [...this.#decisions, { key: crypto.randomUUID(), decisions }]
    this.#continue()
  }

  /** Repeats what failed: reads the session again, then sends decisions and unsent inputs. None of them runs twice. */
  readonly retry = async (): Promise<void> => {
    if (this.#status === 'failed') this.#isLoaded = false
    this.#continue()
  }

  /** Takes an input that was not sent yet out of the queue, and returns it. */
  readonly removeQueued = (id: string): ClientInput | undefined => {
    const item = this.#outbox.items.find((one) => one.id === id)
    if (item?.state !== 'queued' && item?.state !== 'unsent') return undefined
    this.#outbox.remove(id)
    this.#publish()
    return item.input
  }

  /** Keeps the text of the composer, through a reload of the page. */
  readonly setDraft = (draft: string): void => {
    this.#outbox.write(draft)
    this.#publish()
  }

  #open(): void {
    this.#connection = new AbortController()
    this.#outbox.restore()
    globalThis.addEventListener?.('online', this.#reconnect)
    this.#continue()
  }

  #close(): void {
    globalThis.removeEventListener?.('online', this.#reconnect)
    this.#connection?.abort()
    this.#connection = undefined
    this.#isLoaded = false
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  readonly #reconnect = (): void => {
    if (this.#error?.code === 'connection.lost') void this.retry()
  }

  #continue(): void {
    this.#isHeld = false
    this.#error = undefined
    this.#publish()
    void this.#work()
  }

  /** Does what is due, one request at a time: read the session, send decisions, send inputs. */
  async #work(): Promise<void> {
    const connection = this.#connection
    if (this.#isWorking || connection === undefined) return
    this.#isWorking = true
    try {
      while (!connection.signal.aborted && (await this.#step(connection.signal)));
    } catch (error) {
      if (!connection.signal.aborted) this.#fail(error)
    } finally {
      this.#isWorking = false
      // It was closed and opened again meanwhile.
      if (this.#connection !== connection) void this.#work()
    }
  }

  /** Returns false if nothing is due. */
  async #step(signal: AbortSignal): Promise<boolean> {
    if (!this.#isLoaded) {
      await this.#load(signal)
      this.#isLoaded = true
      return true
    }
    const [decision] = this.#decisions
    if (decision !== undefined) {
      await this.#decide(decision, signal)
      return true
    }
    const input = this.#isHeld || this.#pending.length > 0 ? undefined : this.#outbox.next
    if (input === undefined) {
      this.#set({ status: this.#pending.length > 0 ? 'suspended' : 'idle' })
      return false
    }
    await this.#run(input, signal)
    return true
  }

  async #load(signal: AbortSignal): Promise<void> {
    if (this.#state.messages.length === 0) this.#set({ status: 'loading' })
    const attempted = this.#outbox.items.find(({ mode, state }) => mode === 'queue' && state === 'sending')
    if (attempted !== undefined) return this.#confirm(attempted, signal)
    const history = await this.#readHistory()
    if (history.running) return this.#read(this.#session.follow({ signal }), signal)
    this.#settleSteers()
    if (this.#pending.length > 0) await this.#readPending(signal)
  }

  /** Sends an input again whose outcome is unknown. Its idempotency key returns the run that it may have started. */
  async #confirm(item: OutboxItem, signal: AbortSignal): Promise<void> {
    try {
      await this.#run(item, signal)
    } catch (error) {
      if (!isClientError(error)) throw error
      await this.#readHistory()
      throw error
    }
    await this.#readHistory()
  }

  async #readHistory(): Promise<{ running: boolean }> {
    const history = await this.#session.history().catch((error) => {
      if (hasCode(error, 'session.not_found')) return { messages: [], running: false }
      throw error
    })
    this.#messages = fromHistory(history)
    const calls = this.#messages.flatMap(({ parts }) => parts.flatMap((part) => ('call' in part ? [part.call] : [])))
    this.#pending = history.running ? [] : (calls as readonly PendingCall<K>[])
    const arrived = this.#messages.flatMap(({ parts }) => parts.filter(({ type }) => type === 'steer'))
    for (const part of arrived) if ('id' in part) this.#outbox.remove(part.id)
    this.#publish()
    return history
  }

  /** The history has no reasons of pending calls. The events of the last run do. */
  async #readPending(signal: AbortSignal): Promise<void> {
    const answer = await this.#session.follow({ signal }).then(
      ({ pending }) => pending,
      () => [],
    )
    this.#pending = this.#pending.map((call) => answer.find(({ callId }) => callId === call.callId) ?? call)
  }

  async #run(item: OutboxItem, signal: AbortSignal): Promise<void> {
    const { clientTools } = this.#options
    this.#outbox.update(item.id, { state: 'sending' })
    this.#set({ status: 'sending' })
    const run = this.#session.run(item.input, { idempotencyKey: item.id, signal, clientTools })
    try {
      await this.#read(run, signal, () => this.#accept(item))
    } catch (error) {
      if (signal.aborted) throw error
      const isBusy = hasCode(error, 'session.busy')
      // Rejected inputs get another key, because the server may have kept the outcome of this one.
      this.#outbox.update(item.id, { state: isBusy ? 'queued' : isClientError(error) ? 'unsent' : 'sending' })
      if (!isBusy) throw error
      this.#isLoaded = false
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
  }

  #accept(item: OutboxItem): void {
    this.#outbox.remove(item.id)
    this.#messages = [...this.#messages, messageOf(item, 'done')]
  }

  async #decide({ key, decisions }: PendingDecision, signal: AbortSignal): Promise<void> {
    const tokens = new Map(this.#pending.map(({ callId, token }) => [callId, token]))
    const due = Object.entries(decisions).filter(([callId]) => tokens.has(callId))
    const done = () => {
      this.#decisions = this.#decisions.filter((one) => one.key !== key)
    }
    if (due.length === 0) return done()
    const withTokens = due.map(([callId, decision]) => {
      const token = tokens.get(callId)
      return [callId, token === undefined ? decision : { ...decision, token }] as const
    })
    this.#set({ status: 'sending' })
    const run = this.#session.resume(Object.fromEntries(withTokens), { idempotencyKey: key, signal })
    try {
      await this.#read(run, signal, () => {
        done()
        this.#pending = this.#pending.filter(({ callId }) => !(callId in decisions))
      })
    } catch (error) {
      if (isClientError(error)) done()
      if (!hasCode(error, 'approval.used', 'approval.unknown', 'approval.expired')) throw error
      // It was decided elsewhere.
      await this.#readHistory()
      this.#error = toChatError(error)
    }
  }

  /** Applies the events of a run to the messages. */
  async #read(run: ClientRun<K>, signal: AbortSignal, accepted = () => {}): Promise<void> {
    let isAccepted = false
    let attemptStart = 0
    for await (const event of run) {
      if (signal.aborted) return
      if (!isAccepted) {
        isAccepted = true
        accepted()
        if (this.#status === 'stopping') void this.#session.stop().catch(() => {})
        else this.#status = 'streaming'
      }
      const isInner = 'path' in event && event.path !== undefined
      if (event.type === 'turn:start' && !isInner) this.#beginAnswer(event.turnId, event.resumes !== undefined)
      const answer = this.#messages.at(-1)
      if (answer?.role !== 'assistant') continue
      if (event.type === 'step:start' && !isInner) attemptStart = answer.parts.length
      const isReset = event.type === 'model:reset' && !isInner
      const next = isReset
        ? withoutAttempt(answer, attemptStart)
        : applyEvent(answer, event as never, (id) => this.#steerText(id))
      this.#messages = [...this.#messages.slice(0, -1), next]
      if (event.type === 'steer:delivered') this.#outbox.update(event.id, { state: 'delivered' })
      if (event.type === 'steer:rejected') this.#outbox.update(event.id, { mode: 'queue', state: 'queued' })
      if (event.type === 'turn:end' && !isInner) this.#pending = (event.pending ?? []) as readonly PendingCall<K>[]
      this.#publishSoon()
    }
    this.#settleSteers()
    this.#publish()
    await run.then(undefined, (error: unknown) => {
      if (!hasCode(error, 'run.interrupted')) throw error
    })
  }

  #beginAnswer(id: string, resumes: boolean): void {
    const last = this.#messages.at(-1)
    if (last?.role === 'assistant' && (resumes || last.id === id))
      this.#messages = [...this.#messages.slice(0, -1), { ...last, status: 'streaming' }]
    else this.#messages = [...this.#messages, { id, role: 'assistant', status: 'streaming', parts: [] }]
  }

  #steerText(id: string): string {
    const item = this.#outbox.items.find((one) => one.id === id)
    return item === undefined ? '' : inputText(item.input)
  }

  /** After a run: delivered messages are in the history, the others become inputs. */
  #settleSteers(): void {
    for (const { id, mode, state } of this.#outbox.items) {
      if (mode !== 'steer') continue
      if (state === 'delivered') this.#outbox.remove(id)
      else this.#outbox.update(id, { mode: 'queue', state: 'queued' })
    }
  }

  #fail(error: unknown): void {
    this.#isHeld = true
    this.#set({ status: 'failed', error: toChatError(error) })
  }

  #set({ status = this.#status, error = this.#error }: { status?: ChatStatus; error?: ChatError }): void {
    this.#status = status
    this.#error = error
    this.#publish()
  }

  #publishSoon(): void {
    this.#timer ??= setTimeout(() => this.#publish(), this.#options.throttle ?? 30)
  }

  #publish(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#state = this.#snapshot()
    for (const listener of this.#listeners) listener()
  }

  #snapshot(): ChatState<K> {
    const { items, draft } = this.#outbox
    const sent = items.filter(({ mode, state }) => mode === 'queue' && state !== 'queued')
    const queue = items.filter(({ mode, state }) => state === 'queued' || (mode === 'steer' && state === 'sending'))
    const status = this.#status
    const unsent = sent.map((item) =>
      messageOf(item, item.state === 'sending' && status !== 'failed' ? 'sending' : 'unsent'),
    )
    const decided = new Set(this.#decisions.flatMap(({ decisions }) => Object.keys(decisions)))
    return {
      messages: [...this.#messages.map((message) => withDeciding(message, decided)), ...unsent] as ChatMessage<K>[],
      status,
      pending: this.#pending,
      queue: queue.map(({ id, input, mode }) => ({ id, input, mode })),
      draft,
      error: this.#error,
    }
  }
}

function withDeciding(message: ChatMessage, decided: ReadonlySet<string>): ChatMessage {
  if (decided.size === 0) return message
  const parts = message.parts.map((part) =>
    part.type === 'tool' && part.state === 'pending' && decided.has(part.callId)
      ? { ...part, state: 'deciding' as const }
      : part,
  )
  return { ...message, parts }
}

function messageOf({ id, input }: OutboxItem, status: ChatMessage['status']): ChatMessage {
  const parts = typeof input === 'string' ? [{ type: 'text' as const, text: input }] : input.map(partOf)
  return { id, role: 'user', status, parts }
}

function partOf(part: Exclude<ClientInput, string>[number]): ChatMessage['parts'][number] {
  if (part.type === 'text') return { type: 'text', text: part.text }
  return { type: 'file', mediaType: part.mediaType, url: `data:${part.mediaType};base64,${part.data}` }
}

function inputText(input: ClientInput): string {
  return typeof input === 'string'
    ? input
    : input.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

function isEmpty(input: ClientInput): boolean {
  return typeof input === 'string' ? input.trim() === '' : input.length === 0
}

function storageOf(storage: ChatStorage | null | undefined): ChatStorage | undefined {
  if (storage !== undefined) return storage ?? undefined
  try {
    return globalThis.sessionStorage
  } catch {
    return undefined
  }
}
