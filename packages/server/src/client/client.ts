import type { CallTypes, Decision, Session } from '@allium/core'
import type { ServedAgent } from '../options/options.ts'
import type { PendingCall } from './events.ts'
import { checkOptionNames, json, type Transport } from './http.ts'
import { type ClientSession, clientSession } from './session.ts'
import { createTransport, type TransportOptions } from './transport.ts'

/** With several agents, `agent` is the name of the one to use. */
export type ClientOptions<A> = A extends ServedAgent
  ? Omit<TransportOptions, 'agent'> & { agent?: undefined }
  : Omit<TransportOptions, 'agent'> & { agent: keyof A & string }

/** The state of an agent's sessions; of several agents, the union. */
export type StateOf<A> = A extends { session(options?: never): Session<infer S, never> }
  ? S
  : A extends Readonly<Record<string, ServedAgent>>
    ? { [Name in keyof A]: StateOf<A[Name]> }[keyof A]
    : never

/** The types of the calls of an agent's tools; of several agents, the union. */
export type CallTypesOf<A> = A extends { session(options?: never): Session<infer _S, never, infer K> }
  ? K
  : A extends Readonly<Record<string, ServedAgent>>
    ? { [Name in keyof A]: CallTypesOf<A[Name]> }[keyof A]
    : never

/** A page of a list. If it has a `cursor`, there are more. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly cursor: string | undefined
}

export interface SessionListItem {
  readonly id: string
  readonly version: number
  readonly status: string
  /** Milliseconds since the epoch. */
  readonly updatedAt: number
}

/** The client of an agent. */
export interface AgentClient<K extends CallTypes = CallTypes, S = Record<string, unknown>> {
  /**
   * Returns a session of the user; its first run creates it. @param id @default a new id @throws ClientError `session.invalid_id` for `.`,
   * `..`, '' and ids over 256 characters
   */
  session(id?: string): ClientSession<K, S>
  /** Lists the user's sessions, the last changed first. */
  list(page?: { limit?: number; cursor?: string }): Promise<Page<SessionListItem>>
  /** Lists the calls that the user may decide. A page may be short even if more follow: check its cursor. */
  approvals(page?: { limit?: number; cursor?: string }): Promise<Page<PendingApproval<K>>>
  /**
   * Decides a call of `approvals()`, in a session of the user or of another owner. The run continues as that session's owner.
   *
   * @throws ClientError `approval.unknown`, `approval.used`, `approval.expired`, `approval.invalid`
   */
  decide(call: { readonly token?: string }, decision: Decision): Promise<DecisionResult>
}

/** A pending call, with its session. */
export type PendingApproval<K extends CallTypes = CallTypes> = PendingCall<K> & {
  readonly sessionId: string
  readonly owner: string
}

export interface DecisionResult {
  readonly callId: string
  readonly decision: 'approved' | 'edited' | 'denied'
}

/**
 * Creates a client of `server(agent)`, for pages and other processes. Runs outlive connections: after a lost connection the client
 * resumes after the last event that it received.
 *
 * The type parameter is `typeof agent`, or the type of an object with several agents by name. It types the state of sessions. Tools made
 * with `defineTool` type the arguments of calls in events and approvals.
 *
 * @example
 * const client = createClient<typeof agent>({ url, headers: () => ({ authorization }) })
 * for await (const event of client.session('chat-1').run('Hi')) show(event)
 */
export function createClient<A extends ServedAgent | Readonly<Record<string, ServedAgent>>>(
  options: ClientOptions<A>,
): AgentClient<CallTypesOf<A>, StateOf<A>> {
  const transport = createTransport(options as TransportOptions, 'createClient()')
  return {
    session: (id = crypto.randomUUID()) => clientSession<CallTypesOf<A>, StateOf<A>>(transport, id),
    list: (page) => readPage(transport, 'sessions', page),
    approvals: (page) => readPage(transport, 'approvals', page),
    decide: ({ token }, decision) =>
      json<DecisionResult>(transport, '/approvals', {
        method: 'POST',
        body: { ...decision, token: token ?? decision.token },
      }),
  }
}

/** Reads a page of a list, which has the same name in the path and in the response. */
async function readPage<Item>(
  transport: Transport,
  name: 'sessions' | 'approvals',
  page: { limit?: number; cursor?: string } = {},
): Promise<Page<Item>> {
  checkOptionNames(page, { limit: true, cursor: true }, 'A page')
  const params = Object.entries(page).filter(([, value]) => value !== undefined)
  const path = `/${name}?${new URLSearchParams(params as [string, string][])}`
  const { [name]: items, cursor } = await json<Record<typeof name, Item[]> & { cursor?: string }>(transport, path)
  return { items, cursor }
}
