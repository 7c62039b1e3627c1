import type { CallTypes, Decision, KeysOf, Session } from '@allium/core'
import type { ServedAgent } from '../options.ts'
import type { Pending } from './events.ts'
import { checkKnown, json, pathPart, type Wire } from './http.ts'
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
export type CallsIn<A> = A extends { session(options?: never): Session<infer _S, never, infer K> }
  ? K
  : A extends Readonly<Record<string, ServedAgent>>
    ? { [Name in keyof A]: CallsIn<A[Name]> }[keyof A]
    : never

/** A page; with `cursor` there is more. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly cursor: string | undefined
}

export interface Listed {
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
  list(page?: { limit?: number; cursor?: string }): Promise<Page<Listed>>
  /** The calls that wait for a decision of who asks. A page may be short, and more may follow where it has a cursor. */
  approvals(page?: { limit?: number; cursor?: string }): Promise<Page<Waiting<K>>>
  /**
   * Decides a call of `approvals()`, in a session of one's own or of another owner: the run goes on as that owner's.
   *
   * @throws ClientError `approval.unknown`, `approval.used`, `approval.expired`, `approval.invalid`
   */
  decide(call: { readonly token?: string }, decision: Decision): Promise<Decided>
}

/** A call that waits, and whose session it is in. */
export type Waiting<K extends CallTypes = CallTypes> = Pending<K> & {
  readonly sessionId: string
  readonly owner: string
}

export interface Decided {
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
): AgentClient<CallsIn<A>, StateOf<A>> {
  const wire = wireOf(options as CommonOptions & { agent?: string })
  return {
    session: (id = crypto.randomUUID()) => clientSession<CallsIn<A>, StateOf<A>>(wire, id),
    list: async (page) => {
      const { sessions, cursor } = await json<{ sessions: Listed[]; cursor?: string }>(wire, `/sessions${query(page)}`)
      return { items: sessions, cursor }
    },
    approvals: async (page) => {
      const path = `/approvals${query(page)}`
      const { approvals, cursor } = await json<{ approvals: Waiting<CallsIn<A>>[]; cursor?: string }>(wire, path)
      return { items: approvals, cursor }
    },
    decide: ({ token }, decision) =>
      json<Decided>(wire, '/approvals', { method: 'POST', body: { ...decision, token: token ?? decision.token } }),
  }
}

const known: KeysOf<CommonOptions & { agent: string }> = {
  url: true,
  agent: true,
  headers: true,
  fetch: true,
  attempts: true,
  wait: true,
}

function wireOf(options: CommonOptions & { agent?: string }): Wire {
  checkKnown(options, known, 'createClient()')
  const { agent, headers = () => ({}), attempts = 5, wait = backOff } = options
  const { fetch: given = (url: string, init: RequestInit) => fetch(url, init) } = options
  const at = agent === undefined ? '' : `/agents/${pathPart(agent, 'the name of an agent')}`
  return { url: `${options.url.replace(/\/$/, '')}${at}`, headers, attempts, wait, fetch: given }
}

function query(page: { limit?: number; cursor?: string } = {}): string {
  checkKnown(page, { limit: true, cursor: true }, 'A page')
  const given = Object.entries(page).filter(([, value]) => value !== undefined)
  return `?${new URLSearchParams(given as [string, string][])}`
}

function backOff(attempt: number): Promise<void> {
  const most = Math.min(250 * 2 ** (attempt - 1), 5000)
  return new Promise((resolve) => setTimeout(resolve, most / 2 + (Math.random() * most) / 2))
}
