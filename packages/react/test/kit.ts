import { Agent, type AgentOptions, type Logger } from '@allium/core'
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
    delay: async () => {},
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
