import {
  type CallTypes,
  type Decision,
  type FilePart,
  fromJson,
  type ImagePart,
  type OutputOf,
  type TextPart,
  type ToolDef,
} from '@allium/core'
import type { KeysOf } from '@allium/core/internal'
import type { FeedbackView } from '../sessions/feedback-view.ts'
import type { UiMessage } from '../sessions/ui-messages.ts'
import type { ClientRun, PendingCall } from './events.ts'
import { checkOptionNames, json, pathSegment, sendOnce, type Transport } from './http.ts'
import { type OutputSchema, toJsonSchema } from './output.ts'
import { clientRun } from './run.ts'

/** The input of a client: a text, or parts with files as base64. */
export type ClientInput = string | readonly (TextPart | Base64Encoded<ImagePart> | Base64Encoded<FilePart>)[]
type Base64Encoded<P> = Omit<P, 'data'> & { data: string }

export interface RequestOptions<O extends OutputSchema | undefined = undefined> {
  /**
   * The schema of the answer, which is an object: a Standard Schema that can return its JSON Schema, as in zod 4, or
   * `{ schema, jsonSchema }`. Types `output`. @default the answer is text
   */
  output?: O | undefined
  /** A repeated request with the same key gets the same run. @default a new key for each run */
  idempotencyKey?: string | undefined
  /** Disconnects from the run. The server's `onDisconnect` defines whether the run continues. */
  signal?: AbortSignal | undefined
}

export interface RunRequestOptions<O extends OutputSchema | undefined = undefined> extends RequestOptions<O> {
  /**
   * The id of the message in the history. A message that has this id already, and everything after it, is replaced. The former
   * conversation stays as another session. @default none
   */
  messageId?: string | undefined
  /** Tools that run in the client. Their calls are pending until `resume({ [callId]: { result } })` sends their results. @default none */
  clientTools?: readonly ToolDef[] | undefined
}

/** The history as messages of a page. If `running` is true, the answer of the active run comes in its stream. */
export interface SessionHistory {
  readonly messages: readonly UiMessage[]
  readonly running: boolean
}

/** The counts of `observe.usage`; null without that layer. */
export interface SessionUsage {
  readonly tokens: unknown
  readonly cost: unknown
  readonly models: unknown
}

/** Feedback on an answer. */
export interface FeedbackInput {
  /** Thumbs, or a number from 0 to 1. Thumbs up are stored as 1, thumbs down as 0. */
  readonly score: 'up' | 'down' | number
  /** Up to 4,000 UTF-8 bytes. */
  readonly comment?: string | undefined
  /** Up to 16 reasons that the page offers. */
  readonly tags?: readonly string[] | undefined
}

/** A session of the user. */
export interface ClientSession<K extends CallTypes = CallTypes, S = Record<string, unknown>> {
  readonly id: string
  run<O extends OutputSchema | undefined = undefined>(
    input: ClientInput,
    options?: RunRequestOptions<O>,
  ): ClientRun<K, OutputOf<O>>
  /** Answers a stored message again, by its id in `history()`. The former conversation stays as another session. */
  regenerate<O extends OutputSchema | undefined = undefined>(
    messageId: string,
    options?: Omit<RunRequestOptions<O>, 'messageId'>,
  ): ClientRun<K, OutputOf<O>>
  /** Resumes with decisions about pending calls and results of client tools, by call id. */
  resume<O extends OutputSchema | undefined = undefined>(
    decisions: Readonly<Record<string, Decision>>,
    options?: RequestOptions<O>,
  ): ClientRun<K, OutputOf<O>>
  approve<O extends OutputSchema | undefined = undefined>(
    call: PendingCall<K>,
    options?: RequestOptions<O>,
  ): ClientRun<K, OutputOf<O>>
  deny<O extends OutputSchema | undefined = undefined>(
    call: PendingCall<K>,
    reason: string,
    options?: RequestOptions<O>,
  ): ClientRun<K, OutputOf<O>>
  /** Follows the last run from its beginning, for a page that was reloaded. Has no events if the run is gone. */
  follow<O extends OutputSchema | undefined = undefined>(
    options?: Omit<RequestOptions<O>, 'idempotencyKey'>,
  ): ClientRun<K, OutputOf<O>>
  /**
   * Sends a message to the active run, whichever process executes it. It is delivered before the run's next step. The run's stream reports
   * the outcome, as `steer:delivered` or `steer:rejected` with this id.
   *
   * @throws ClientError `run.not_running`, `session.not_found`
   */
  steer(message: ClientInput, options?: { id?: string }): Promise<{ id: string }>
  /** Stops the active run, whichever process executes it. @throws ClientError `run.not_running`, `session.not_found` */
  stop(): Promise<void>
  /** Returns the history. URLs of files begin with the `url` of the client. */
  history(): Promise<SessionHistory>
  usage(): Promise<SessionUsage>
  /**
   * Returns the keys of session state that the server's option `state` allows, as the last run left them. @throws ClientError
   * `session.not_found`
   */
  state(): Promise<Partial<S>>
  /**
   * Gives feedback on an answer, in place of the user's earlier one.
   *
   * @param id the id of the run (`turnId`), or of the message in `history()` that shows its answer
   * @throws ClientError `session.not_found`, `session.unknown_turn`, `request.invalid`, `server.limit`
   */
  giveFeedback(id: string, feedback: FeedbackInput): Promise<FeedbackView>
  /** Removes the user's feedback on an answer. Does nothing if there is none. */
  removeFeedback(id: string): Promise<void>
  /** Returns the user's own feedback on the session, at most the 100 last changed. */
  feedback(): Promise<readonly FeedbackView[]>
  /** Creates a session with the history and state of this one, at its end or after one of its runs. */
  fork(options?: { id?: string; at?: string }): Promise<ClientSession<K, S>>
  delete(): Promise<void>
}

const requestOptionKeys: KeysOf<RequestOptions> = { output: true, idempotencyKey: true, signal: true }

export function clientSession<K extends CallTypes, S>(transport: Transport, id: string): ClientSession<K, S> {
  const basePath = `/sessions/${pathSegment(id, 'the id of a session')}`
  const events = `${basePath}/events`
  const startRun = <O extends OutputSchema | undefined>(
    name: 'runs' | 'decisions',
    fields: object,
    options: RequestOptions<O> = {},
  ): ClientRun<K, OutputOf<O>> => {
    checkOptionNames(options, requestOptionKeys, 'A run')
    const { idempotencyKey = crypto.randomUUID(), signal, output } = options
    const headers = { 'idempotency-key': idempotencyKey }
    const body = { ...fields, output: toJsonSchema(output) }
    return clientRun(transport, {
      path: `${basePath}/${name}`,
      events,
      output,
      call: { method: 'POST', body, headers, signal },
    })
  }
  const feedbackPath = (rated: string) => `${basePath}/runs/${pathSegment(rated, 'the id of an answer')}/feedback`
  const resume: ClientSession<K, S>['resume'] = (decisions, options) => startRun('decisions', { decisions }, options)
  return {
    id,
    resume,
    run: (input, { clientTools, messageId, ...options } = {}) =>
      startRun('runs', { input, messageId, clientTools }, options),
    regenerate: (messageId, { clientTools, ...options } = {}) => startRun('runs', { messageId, clientTools }, options),
    approve: (call, options) => resume(decisionFor(call, { approve: true }), options),
    deny: (call, reason, options) => resume(decisionFor(call, { deny: reason }), options),
    follow: (options = {}) => {
      checkOptionNames(options, requestOptionKeys, 'follow()')
      const { signal, output } = options
      return clientRun(transport, { path: events, events, output, call: { signal } })
    },
    steer: async (message, { id: messageId = crypto.randomUUID(), ...rest } = {}) => {
      checkOptionNames(rest, {}, 'steer()')
      const body = { message, id: messageId }
      return json<{ id: string }>(transport, `${basePath}/steer`, { method: 'POST', body, idempotent: true })
    },
    stop: async () => void (await sendOnce(transport, `${basePath}/stop`, { method: 'POST', body: {} })),
    history: () => readHistory(transport, basePath),
    usage: () => json(transport, `${basePath}/usage`),
    state: async () => {
      const { state } = await json<{ state: Partial<S> }>(transport, `${basePath}/state`, {}, fromJson)
      return state
    },
    giveFeedback: (rated, body) => json(transport, feedbackPath(rated), { method: 'PUT', body, idempotent: true }),
    removeFeedback: async (rated) => void (await sendOnce(transport, feedbackPath(rated), { method: 'DELETE' })),
    feedback: async () => (await json<{ feedback: FeedbackView[] }>(transport, `${basePath}/feedback`)).feedback,
    fork: async (options = {}) => {
      checkOptionNames(options, { id: true, at: true }, 'fork()')
      const forked = await json<{ id: string }>(transport, `${basePath}/fork`, { method: 'POST', body: options })
      return clientSession<K, S>(transport, forked.id)
    },
    delete: async () => void (await sendOnce(transport, basePath, { method: 'DELETE' })),
  }
}

/** Reads all pages of the history, the last one first. */
async function readHistory(transport: Transport, basePath: string, query = ''): Promise<SessionHistory> {
  const history = await json<SessionHistory & { before?: number }>(transport, `${basePath}/messages${query}`)
  // The server links to its path, which a proxy may serve under another one.
  for (const part of history.messages.flatMap(({ parts }) => parts))
    if (part.type === 'file' && String(part.url).startsWith('/')) {
      part.url = transport.url + basePath + /\/files\/.*/.exec(String(part.url))
      part.own = true
    }
  if (history.before === undefined) return history
  const { messages } = await readHistory(transport, basePath, `?before=${history.before}`)
  return { ...history, messages: [...messages, ...history.messages] }
}

function decisionFor(call: unknown, decision: Decision): Record<string, Decision> {
  const { callId, token } = call as { callId: string; token?: string }
  return { [callId]: { ...decision, token } }
}
