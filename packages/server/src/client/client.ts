import type { CallTypes, Decision, KeysOf, Session } from '@allium/core'
import type { ServedAgent } from '../options.ts'
import type { PendingCall } from './events.ts'
import { checkOptionNames, json, pathSegment, type Transport } from './http.ts'
import { type ClientSession, clientSession } from './session.ts'

interface CommonOptions {
  /** Where the server is, with its `base`: `https://api.acme.com/ai`. */
  url: string
  /** Tells who asks; called for each request. @default none */
  headers?: (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>) | undefined
  /** @default the global one */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
  /** How often a connection is tried that brings nothing. @default 5 */
  attempts?: number | undefined
  /** Waits before another attempt, counted from 1. @default 250 ms, then twice as long each time, with some chance */
  wait?: ((attempt: number) => Promise<void>) | undefined
}

/** Of a server with several agents, `agent` names the one that is asked. */
export type ClientOptions<A> = A extends ServedAgent
  ? CommonOptions & { agent?: undefined }
  : CommonOptions & { agent: keyof A & string }

/** The state of an agent's sessions; of several agents that of any. */
export type StateOf<A> = A extends { session(options?: never): Session<infer S, never> }
  ? S
  : A extends Readonly<Record<string, ServedAgent>>
    ? { [Name in keyof A]: StateOf<A[Name]> }[keyof A]
    : never

/** What is told of the calls of an agent's tools; of several agents of any. */
export type CallTypesOf<A> = A extends { session(options?: never): Session<infer _S, never, infer K> }
  ? K
  : A extends Readonly<Record<string, ServedAgent>>
    ? { [Name in keyof A]: CallTypesOf<A[Name]> }[keyof A]
    : never

/** A page; with `cursor` there is more. */
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

/** An agent behind a server. */
export interface AgentClient<K extends CallTypes = CallTypes, S = Record<string, unknown>> {
  /** A session of who asks; a run begins it. @param id @default a new one @throws ClientError `session.invalid_id` for `.`, `..`, '' and ids over 256 characters */
  session(id?: string): ClientSession<K, S>
  /** Those of who asks, changed last first. */
  list(page?: { limit?: number; cursor?: string }): Promise<Page<SessionListItem>>
  /** The calls that wait for a decision of who asks. A page may be short, and more may follow where it has a cursor. */
  approvals(page?: { limit?: number; cursor?: string }): Promise<Page<PendingApproval<K>>>
  /**
   * Decides a call of `approvals()`, in a session of one's own or of another owner: the run goes on as that owner's.
   *
   * @throws ClientError `approval.unknown`, `approval.used`, `approval.expired`, `approval.invalid`
   */
  decide(call: { readonly token?: string }, decision: Decision): Promise<DecisionResult>
}

/** A call that waits, and whose session it is in. */
export type PendingApproval<K extends CallTypes = CallTypes> = PendingCall<K> & {
  readonly sessionId: string
  readonly owner: string
}

export interface DecisionResult {
  readonly callId: string
  readonly decision: 'approved' | 'edited' | 'denied'
}

/**
 * A client of `server(agent)`, for pages and other processes. Runs outlive connections: a reader who loses one goes on behind
 * the last event that came.
 *
 * `typeof agent` tells whether it is one or several by name, and types the state of sessions; tools made with `defineTool` type the
 * arguments of calls in events and approvals.
 *
 * @example
 * const client = createClient<typeof agent>({ url, headers: () => ({ authorization }) })
 * for await (const event of client.session('chat-1').run('Hi')) show(event)
 */
export function createClient<A extends ServedAgent | Readonly<Record<string, ServedAgent>>>(
  options: ClientOptions<A>,
): AgentClient<CallTypesOf<A>, StateOf<A>> {
  const transport = createTransport(options as CommonOptions & { agent?: string })
  return {
    session: (id = crypto.randomUUID()) => clientSession<CallTypesOf<A>, StateOf<A>>(transport, id),
    list: async (page) => {
      const { sessions, cursor } = await json<{ sessions: SessionListItem[]; cursor?: string }>(
        transport,
        `/sessions${query(page)}`,
      )
      return { items: sessions, cursor }
    },
    approvals: async (page) => {
      const path = `/approvals${query(page)}`
      const { approvals, cursor } = await json<{ approvals: PendingApproval<CallTypesOf<A>>[]; cursor?: string }>(
        transport,
        path,
      )
      return { items: approvals, cursor }
    },
    decide: ({ token }, decision) =>
      json<DecisionResult>(transport, '/approvals', {
        method: 'POST',
        body: { ...decision, token: token ?? decision.token },
      }),
  }
}

const optionKeys: KeysOf<CommonOptions & { agent: string }> = {
  url: true,
  agent: true,
  headers: true,
  fetch: true,
  attempts: true,
  wait: true,
}

function createTransport(options: CommonOptions & { agent?: string }): Transport {
  checkOptionNames(options, optionKeys, 'createClient()')
  const { agent, headers = () => ({}), attempts = 5, wait = exponentialBackoff } = options
  const { fetch: customFetch = (url: string, init: RequestInit) => fetch(url, init) } = options
  const basePath = agent === undefined ? '' : `/agents/${pathSegment(agent, 'the name of an agent')}`
  return { url: `${options.url.replace(/\/$/, '')}${basePath}`, headers, attempts, wait, fetch: customFetch }
}

function query(page: { limit?: number; cursor?: string } = {}): string {
  checkOptionNames(page, { limit: true, cursor: true }, 'A page')
  const params = Object.entries(page).filter(([, value]) => value !== undefined)
  return `?${new URLSearchParams(params as [string, string][])}`
}

function exponentialBackoff(attempt: number): Promise<void> {
  const max = Math.min(250 * 2 ** (attempt - 1), 5000)
  return new Promise((resolve) => setTimeout(resolve, max / 2 + (Math.random() * max) / 2))
}
