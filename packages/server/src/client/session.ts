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
import type { ClientRun, Pending } from './events.ts'
import { checkKnown, json, pathPart, request, type Wire } from './http.ts'
import { type OutputSchema, wiredSchema } from './output.ts'
import { clientRun } from './run.ts'

/** What a client says: a text, or parts with files as base64. */
export type ClientInput = string | readonly (TextPart | Wired<ImagePart> | Wired<FilePart>)[]
type Wired<P> = Omit<P, 'data'> & { data: string }

export interface AskOptions<O extends OutputSchema | undefined = undefined> {
  /** What the answer must be: any Standard Schema of an object that can tell its JSON Schema, as zod 4 can. Types `output`. @default a text */
  output?: O | undefined
  /** Who asks again with this key gets the same run. @default one for each run */
  idempotencyKey?: string | undefined
  /** Leaves the run; what becomes of it then is the server's `onDisconnect`. */
  signal?: AbortSignal | undefined
}

export interface RunAskOptions<O extends OutputSchema | undefined = undefined> extends AskOptions<O> {
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
    options?: RunAskOptions<O>,
  ): ClientRun<K, OutputOf<O>>
  /** Goes on with decisions about the calls that wait, and results of those that run here, by call id. */
  resume<O extends OutputSchema | undefined = undefined>(
    decisions: Readonly<Record<string, Decision>>,
    options?: AskOptions<O>,
  ): ClientRun<K, OutputOf<O>>
  approve<O extends OutputSchema | undefined = undefined>(
    call: Pending<K>,
    options?: AskOptions<O>,
  ): ClientRun<K, OutputOf<O>>
  deny<O extends OutputSchema | undefined = undefined>(
    call: Pending<K>,
    reason: string,
    options?: AskOptions<O>,
  ): ClientRun<K, OutputOf<O>>
  /** The last run from its beginning, for a page that was reloaded; of a run that is no more it has no event. */
  follow<O extends OutputSchema | undefined = undefined>(
    options?: Omit<AskOptions<O>, 'idempotencyKey'>,
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

const ofAsk: KeysOf<AskOptions> = { output: true, idempotencyKey: true, signal: true }

export function clientSession<K extends CallTypes, S>(wire: Wire, id: string): ClientSession<K, S> {
  const at = `/sessions/${pathPart(id, 'the id of a session')}`
  const events = `${at}/events`
  const ask = <O extends OutputSchema | undefined>(
    path: string,
    what: object,
    options: AskOptions<O> = {},
  ): ClientRun<K, OutputOf<O>> => {
    checkKnown(options, ofAsk, 'A run')
    const { idempotencyKey = crypto.randomUUID(), signal, output } = options
    const headers = { 'idempotency-key': idempotencyKey }
    const body = { ...what, output: wiredSchema(output) }
    return clientRun(wire, { path, events, output, call: { method: 'POST', body, headers, signal, safe: true } })
  }
  const resume: ClientSession<K, S>['resume'] = (decisions, options) => ask(`${at}/decisions`, { decisions }, options)
  return {
    id,
    resume,
    run: (input, { clientTools, ...options } = {}) => ask(`${at}/runs`, { input, clientTools }, options),
    approve: (call, options) => resume(decided(call, { approve: true }), options),
    deny: (call, reason, options) => resume(decided(call, { deny: reason }), options),
    follow: (options = {}) => {
      checkKnown(options, ofAsk, 'follow()')
      const { signal, output } = options
      return clientRun(wire, { path: events, events, output, call: { signal } })
    },
    steer: async (message, { id = crypto.randomUUID(), ...rest } = {}) => {
      checkKnown(rest, {}, 'steer()')
      return json<{ id: string }>(wire, `${at}/steer`, { method: 'POST', body: { message, id }, safe: true })
    },
    stop: async () => void (await request(wire, `${at}/stop`, { method: 'POST', body: {} })),
    history: async () => {
      const told = await json<SessionHistory>(wire, `${at}/messages`)
      // The server links to its own path, which a proxy may serve below another one.
      for (const part of told.messages.flatMap(({ parts }) => parts))
        if (part.type === 'file') part.url = String(part.url).replace(/^\/.*(?=\/files\/)/, () => wire.url + at)
      return told
    },
    usage: () => json(wire, `${at}/usage`),
    state: async () => {
      const { state } = fromJson(await (await request(wire, `${at}/state`)).text()) as { state: Partial<S> }
      return state
    },
    fork: async (options = {}) => {
      checkKnown(options, { id: true, at: true }, 'fork()')
      const made = await json<{ id: string }>(wire, `${at}/fork`, { method: 'POST', body: options })
      return clientSession<K, S>(wire, made.id)
    },
    delete: async () => void (await request(wire, at, { method: 'DELETE' })),
  }
}

function decided(call: unknown, decision: Decision): Record<string, Decision> {
  const { callId, token } = call as { callId: string; token?: string }
  return { [callId]: token === undefined ? decision : { ...decision, token } }
}
