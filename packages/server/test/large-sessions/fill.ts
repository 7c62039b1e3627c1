import type { Message, StoredTurn } from '@allium/core'
import type { SessionStore } from '@allium/store'

const owner = { tenant: 'acme', owner: 'ann', agent: 'agent' }

/** Stores a session of short turns, `t1` and so on. */
export function fillTurns(sessions: SessionStore, sessionId: string, turns: number): Promise<void> {
  return fill(sessions, sessionId, turns, (n) => `Question ${n}: ${'why '.repeat(30)}`)
}

/** Stores a session whose inputs have an image of 0.7 MB each. */
export function fillImages(sessions: SessionStore, sessionId: string, images: number): Promise<void> {
  return fill(sessions, sessionId, images, (n) => [
    { type: 'text', text: 'Look:' },
    { type: 'image', mediaType: 'image/png', data: Buffer.alloc(700_000, `image ${n}`).toString('base64') },
  ])
}

async function fill(
  sessions: SessionStore,
  sessionId: string,
  turns: number,
  contentOf: (n: number) => Message['content'],
): Promise<void> {
  const { lease } = await sessions.acquire({ ...owner, sessionId }, 600_000)
  if (lease === undefined) throw new Error('The session is held.')
  for (let n = 1; n <= turns; n++) await sessions.append(lease, n - 1, turnOf(n, contentOf(n)))
  await sessions.release(lease)
}

function turnOf(n: number, content: Message['content']): StoredTurn {
  const messages: Message[] = [
    { role: 'user', content } as Message,
    { role: 'assistant', content: `Answer ${n}: ${'because '.repeat(30)}` },
  ]
  return {
    turnId: `t${n}`,
    rootId: `t${n}`,
    agent: 'agent',
    status: 'completed',
    startedAt: n,
    endedAt: n,
    usage: { inputTokens: 1, outputTokens: 1, calls: 1 },
    answer: `Answer ${n}`,
    records: [],
    from: (n - 1) * 2,
    messages,
    rest: { state: {}, turnCount: n, runCount: n },
  }
}
