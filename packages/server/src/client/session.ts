import {
  type CallTypes,
  type Decision,
  type FilePart,
  fromJson,
  type ImagePart,
  type KeysOf,
  type OutputOf,
  type TextPart,
  type ToolDef,
} from '@allium/core'
import type { UiMessage } from '../native/ui-messages.ts'
import type { ClientRun, PendingCall } from './events.ts'
import { checkOptionNames, json, pathSegment, request, type Transport } from './http.ts'
import { type OutputSchema, toJsonSchema } from './output.ts'
import { clientRun } from './run.ts'

/** What a client says: a text, or parts with files as base64. */
export type ClientInput = string | readonly (TextPart | Base64Encoded<ImagePart> | Base64Encoded<FilePart>)[]
type Base64Encoded<P> = Omit<P, 'data'> & { data: string }

export interface RequestOptions<O extends OutputSchema | undefined = undefined> {
  /** What the answer must be: any Standard Schema of an object that can tell its JSON Schema, as zod 4 can. Types `output`. @default a text */
  output?: O | undefined
  /** Who asks again with this key gets the same run. @default one for each run */
  idempotencyKey?: string | undefined
  /** Leaves the run; what becomes of it then is the server's `onDisconnect`. */
  signal?: AbortSignal | undefined
}

export interface RunRequestOptions<O extends OutputSchema | undefined = undefined> extends RequestOptions<O> {
  /** Tools that run here: their calls wait, and `resume({ [callId]: { result } })` brings what came of them. @default none */
  clientTools?: readonly ToolDef[] | undefined
}

/** The history as messages of a page; `running` tells that an answer comes in a stream. */
export interface SessionHistory {
  readonly messages: readonly UiMessage[]
  readonly running: boolean
}

/** What `observe.usage` has counted; null without that layer. */
export interface SessionUsage {
  readonly tokens: unknown
  readonly cost: unknown
  readonly models: unknown
}

/** A session of who asks. */
export interface ClientSession<K extends CallTypes = CallTypes, S = Record<string, unknown>> {
  readonly id: string
  run<O extends OutputSchema | undefined = undefined>(
    input: ClientInput,
    options?: RunRequestOptions<O>,
  ): ClientRun<K, OutputOf<O>>
  /** Goes on with decisions about the calls that wait, and results of those that run here, by call id. */
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
  /** The last run from its beginning, for a page that was reloaded; of a run that is no more it has no event. */
  follow<O extends OutputSchema | undefined = undefined>(
    options?: Omit<RequestOptions<O>, 'idempotencyKey'>,
  ): ClientRun<K, OutputOf<O>>
  /**
   * Says something to what runs, in whichever process: it is heard before the run's next step. What became of it comes in the
   * run's stream, as `steer:heard` or `steer:returned` with this id.
   *
   * @throws ClientError `run.not_running`, `session.not_found`
   */
  steer(message: ClientInput, options?: { id?: string }): Promise<{ id: string }>
  /** Stops what runs, from whichever process. @throws ClientError `run.not_running`, `session.not_found` */
  stop(): Promise<void>
  /** The history so far. Links of files begin with the `url` of the client. */
  history(): Promise<SessionHistory>
  usage(): Promise<SessionUsage>
  /** Those keys of the session's state that the server's option `state` opens, as the last run left them. @throws ClientError `session.not_found` */
  state(): Promise<Partial<S>>
  /** Begins a session with what this one had, at its end or after one of its runs. */
  fork(options?: { id?: string; at?: string }): Promise<ClientSession<K, S>>
  delete(): Promise<void>
}

const requestOptionKeys: KeysOf<RequestOptions> = { output: true, idempotencyKey: true, signal: true }

export function clientSession<K extends CallTypes, S>(transport: Transport, id: string): ClientSession<K, S> {
  const basePath = `/sessions/${pathSegment(id, 'the id of a session')}`
  const events = `${basePath}/events`
  const startRun = <O extends OutputSchema | undefined>(
    path: string,
    fields: object,
    options: RequestOptions<O> = {},
  ): ClientRun<K, OutputOf<O>> => {
    checkOptionNames(options, requestOptionKeys, 'A run')
    const { idempotencyKey = crypto.randomUUID(), signal, output } = options
    const headers = { 'idempotency-key': idempotencyKey }
    const body = { ...fields, output: toJsonSchema(output) }
    return clientRun(transport, {
      path,
      events,
      output,
      call: { method: 'POST', body, headers, signal, idempotent: true },
    })
  }
  const resume: ClientSession<K, S>['resume'] = (decisions, options) =>
    startRun(`${basePath}/decisions`, { decisions }, options)
  return {
    id,
    resume,
    run: (input, { clientTools, ...options } = {}) => startRun(`${basePath}/runs`, { input, clientTools }, options),
    approve: (call, options) => resume(decisionFor(call, { approve: true }), options),
    deny: (call, reason, options) => resume(decisionFor(call, { deny: reason }), options),
    follow: (options = {}) => {
      checkOptionNames(options, requestOptionKeys, 'follow()')
      const { signal, output } = options
      return clientRun(transport, { path: events, events, output, call: { signal } })
    },
    steer: async (message, { id = crypto.randomUUID(), ...rest } = {}) => {
      checkOptionNames(rest, {}, 'steer()')
      return json<{ id: string }>(transport, `${basePath}/steer`, {
        method: 'POST',
        body: { message, id },
        idempotent: true,
      })
    },
    stop: async () => void (await request(transport, `${basePath}/stop`, { method: 'POST', body: {} })),
    history: async () => {
      const told = await json<SessionHistory>(transport, `${basePath}/messages`)
      // The server links to its own path, which a proxy may serve below another one.
      for (const part of told.messages.flatMap(({ parts }) => parts))
        if (part.type === 'file')
          part.url = String(part.url).replace(/^\/.*(?=\/files\/)/, () => transport.url + basePath)
      return told
    },
    usage: () => json(transport, `${basePath}/usage`),
    state: async () => {
      const { state } = fromJson(await (await request(transport, `${basePath}/state`)).text()) as { state: Partial<S> }
      return state
    },
    fork: async (options = {}) => {
      checkOptionNames(options, { id: true, at: true }, 'fork()')
      const forked = await json<{ id: string }>(transport, `${basePath}/fork`, { method: 'POST', body: options })
      return clientSession<K, S>(transport, forked.id)
    },
    delete: async () => void (await request(transport, basePath, { method: 'DELETE' })),
  }
}

function decisionFor(call: unknown, decision: Decision): Record<string, Decision> {
  const { callId, token } = call as { callId: string; token?: string }
  return { [callId]: token === undefined ? decision : { ...decision, token } }
}
