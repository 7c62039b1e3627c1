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

/** A server with all protocols, at its default limits. */
export function serverOf(sessions: SessionStore) {
  const { agent } = kept(new Agent({ name: 'agent', version: '1', model, logger: silent }), sessions)
  const inspect = inspector({ access: () => 'own' })
  const protocols = { uiStream: 6, openai: true, agui: true, inspect } as const
  return server(agent, { principal, logger: silent, sessions, onBusy: 'queue', ...protocols })
}
