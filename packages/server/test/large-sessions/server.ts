import { Agent, type Model } from '@allium/core'
import type { SessionStore } from '@allium/store'
import { server } from '../../src/index.ts'
import { inspector } from '../../src/inspect.ts'
import { kept, principal, silent } from '../kit.ts'

const model: Model = {
  id: 'brief',
  async *stream() {
    yield { type: 'text-delta', delta: 'Yes.' }
    yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } }
  },
}

/**
 * A server with all protocols, at its default limits.
 *
 * @param options.inspect its inspector also keeps the last model calls in memory, with their messages
 */
export function serverOf(sessions: SessionStore, { inspect = true } = {}) {
  const { agent } = kept(new Agent({ name: 'agent', version: '1', model, logger: silent }), sessions)
  const protocols = { uiStream: 6, openai: true, agui: true } as const
  const inspected = inspect ? { inspect: inspector({ access: () => 'own' }) } : {}
  return server(agent, { principal, logger: silent, sessions, onBusy: 'queue', ...protocols, ...inspected })
}
