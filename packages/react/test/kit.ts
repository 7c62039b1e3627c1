import { Agent, type AgentOptions, defineTool, type Logger, type Model, type ModelChunk } from '@allium/core'
import { type ServerOptions, server } from '@allium/server'
import { createClient } from '@allium/server/client'
import { serve } from '@allium/server/node'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { expect, onTestFinished } from 'vitest'
import { type ChatOptions, type ChatStorage, ChatStore } from '../src/index.ts'

export const silent: Logger = { warn() {}, error() {} }

export function agentOf(steps: readonly ScriptedStep[], options: Partial<AgentOptions> = {}): Agent {
  return new Agent({ model: scriptedModel(steps), logger: silent, approvals: { secret: 'of the tests' }, ...options })
}

/** Serves an agent on a free port until the test is over, and returns its URL. */
export async function listen(agent: Agent, options: Partial<ServerOptions> = {}): Promise<string> {
  const app = server(agent, { principal: () => ({ tenantId: 'acme', userId: 'ann' }), logger: silent, ...options })
  const { url, close, server: http } = await serve(app, { port: 0, signals: false, drainTimeout: 0 })
  onTestFinished(async () => {
    http.closeAllConnections()
    await close()
  })
  return url
}

/** A storage in memory, as `sessionStorage` is one in a page. */
export function memoryStorage(): ChatStorage {
  const values = new Map<string, string>()
  return {
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
  }
}

/** Opens a session as a page does, until the test is over. */
export function open(url: string, options: Partial<ChatOptions> & { fetch?: typeof fetch } = {}) {
  const { fetch, ...rest } = options
  const client = createClient<Agent>({
    url,
    backoff: async () => {},
    ...(fetch && { fetch: (to: string, init: RequestInit) => fetch(to, init) }),
  })
  const store = new ChatStore({ client, sessionId: 'chat-1', storage: memoryStorage(), throttle: 0, ...rest })
  const leave = store.subscribe(() => {})
  onTestFinished(leave)
  return { store, leave, state: () => store.getSnapshot(), client }
}

type Opened = ReturnType<typeof open>

export const until = (chat: Opened, status: string) => expect.poll(() => chat.state().status).toBe(status)

/** The messages as short lines: `user: Hi`. */
export function lines({ state }: Opened): string[] {
  return state().messages.map(({ role, parts }) => {
    const shown = parts.map((part) =>
      part.type === 'text' ? part.text : part.type === 'tool' ? `[${part.name} ${part.state}]` : `(${part.type})`,
    )
    return `${role}: ${shown.join(' ')}`
  })
}

export const refund = defineTool({
  name: 'refund',
  description: 'Gives money back.',
  jsonSchema: { type: 'object' },
  requireApproval: true,
  execute: () => 'Refunded.',
})

export const refundStep: ScriptedStep = { toolCalls: [{ name: 'refund', callId: 'c1', args: { cents: 500 } }] }

/** A model whose first answer continues when the test says so. Later answers are "Next." */
export function gated(): { model: Model; text(delta: string): void; end(): void } {
  const chunks: ModelChunk[] = []
  const next = scriptedModel(['Next.', 'Next.', 'Next.'])
  let wake = () => {}
  let calls = 0
  const push = (chunk: ModelChunk) => {
    chunks.push(chunk)
    wake()
  }
  async function* answer(signal: AbortSignal): AsyncGenerator<ModelChunk> {
    for (;;) {
      const chunk = chunks.shift()
      if (chunk !== undefined) yield chunk
      if (chunk?.type === 'finish') return
      if (chunks.length > 0) continue
      await new Promise<void>((resolve, reject) => {
        wake = resolve
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      })
    }
  }
  return {
    model: { id: 'gated', stream: (request) => (calls++ === 0 ? answer(request.signal) : next.stream(request)) },
    text: (delta) => push({ type: 'text-delta', delta }),
    end: () => push({ type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } }),
  }
}

/** A `fetch` that fails while it is offline, and cuts the streams that are open when it goes offline. */
export function network() {
  const open = new Set<AbortController>()
  let isOnline = true
  const fetchOnline = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    if (!isOnline) throw new TypeError('fetch failed')
    const cut = new AbortController()
    open.add(cut)
    const signal = init.signal ? AbortSignal.any([init.signal, cut.signal]) : cut.signal
    return fetch(url, { ...init, signal })
  }
  return {
    fetch: fetchOnline as typeof fetch,
    goOffline() {
      isOnline = false
      for (const cut of open) cut.abort()
    },
    goOnline() {
      isOnline = true
    },
  }
}
