import type { Agent, Model, Session } from '@allium/core'

const principal = { tenantId: 'acme', userId: 'ada' }

/** Answers for good, and keeps nothing: a step that calls a tool, a failure, or a text. */
export const answering: Model = {
  id: 'answering',
  async *stream({ messages }) {
    const last = messages.at(-1)
    const asked = JSON.stringify(last?.content)
    if (last?.role === 'user' && asked.includes('fail')) throw new Error('down')
    if (last?.role === 'user' && asked.includes('look')) {
      const callId = `call-${asked.replace(/\D/g, '')}`
      yield { type: 'tool-input-start', callId, name: 'look' }
      yield { type: 'tool-input-end', callId }
      yield { type: 'finish', reason: 'tool-calls', usage: { inputTokens: 5, outputTokens: 5 } }
      return
    }
    for (const word of ['It ', 'is ', 'all ', 'well.']) yield { type: 'text-delta', delta: word }
    yield { type: 'finish', reason: 'stop', usage: { inputTokens: 5, outputTokens: 5 } }
  },
}

export const look = { name: 'look', description: 'Looks', jsonSchema: {}, flow: {}, execute: () => 'all well' }

/** One turn of the soak, by its number. Nobody closes a session, and some readers stop without a word. */
export async function soakTurn(agent: Agent, n: number, seen: (session: object) => void): Promise<void> {
  const session = agent.session({ principal })
  seen(session)
  const kind = kinds[n % kinds.length] as (session: Session, n: number) => Promise<unknown>
  await kind(session, n)
}

/** One of the turns of the one long session. */
export async function longTurn(session: Session, n: number): Promise<void> {
  await session.run(`${n % 3 === 0 ? 'look' : 'ask'} ${n}`)
}

const kinds: readonly ((session: Session, n: number) => Promise<unknown>)[] = [
  async (session, n) => session.run(`ask ${n}`),
  async (session, n) => session.run(`look ${n}`, n % 5 === 0 ? { idempotencyKey: `key-${n}` } : {}),
  async (session, n) => session.run(`fail ${n}`).catch(() => {}),
  async (session, n) => {
    for await (const { type } of session.run(`ask ${n}`)) if (type === 'text-delta') break
  },
  /** Reads a little, and is never heard of again. */
  async (session, n) => {
    const reader = session.run(`ask ${n}`)[Symbol.asyncIterator]()
    for (let i = 0; i < 3; i++) await reader.next()
  },
  async (session, n) => session.run(`ask ${n}`, { signal: shared.signal }),
]

/** One signal that all runs share, as that of a server which stops. */
const shared = new AbortController()
