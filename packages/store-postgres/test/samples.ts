import { type AlliumError, isAlliumError, type SessionKey, type StoredTurn } from '@allium/core'
import { expect } from 'vitest'
import type { PostgresPool, PostgresStore } from '../src/index.ts'

export const key: SessionKey = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }

export const turn = (text: string, from = 0): StoredTurn => ({
  turnId: `turn ${text}`,
  rootId: `turn ${text}`,
  agent: 'agent',
  status: 'completed',
  startedAt: 1,
  endedAt: 2,
  usage: { inputTokens: 0, outputTokens: 0, calls: 1 },
  answer: text,
  records: [],
  from,
  messages: [{ role: 'user', content: text }],
  rest: { state: {} },
})

/** Appends a turn, and gives the session free. */
export async function add(store: PostgresStore, text: string, where = key): Promise<void> {
  const { lease } = await store.sessions.acquire(where, 10_000)
  if (lease === undefined) throw new Error('Somebody has it.')
  await store.sessions.append(lease, lease.version, turn(text), { release: true })
}

/** What something throws or rejects with. */
export async function failure(act: () => unknown): Promise<AlliumError> {
  try {
    await act()
  } catch (error) {
    return error as AlliumError
  }
  return expect.fail('It was to fail.')
}

/** Its code, or its text where it has none of ours. */
export async function codeOf(act: () => unknown): Promise<string> {
  const error = await failure(act)
  return isAlliumError(error) ? error.code : String(error)
}

/** A pool, and what is asked through it. */
export function watched(pool: PostgresPool) {
  const asked: string[] = []
  let held = 0
  const watching: PostgresPool = {
    async connect() {
      const client = await pool.connect()
      held++
      return {
        query: (text, values) => {
          asked.push(typeof text === 'string' ? text : text.text)
          return client.query(text, values)
        },
        release: (destroy) => {
          held--
          client.release(destroy)
        },
        on: (event, listener) => client.on(event, listener),
        off: (event, listener) => client.off(event, listener),
      }
    },
  }
  return { pool: watching, asked, held: () => held }
}
