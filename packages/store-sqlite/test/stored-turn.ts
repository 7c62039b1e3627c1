import type { StoredTurn } from '@allium/core'

/** The first turn of a session. */
export const turn: StoredTurn = {
  turnId: 't',
  rootId: 't',
  agent: 'agent',
  status: 'completed',
  startedAt: 1,
  endedAt: 2,
  usage: { inputTokens: 0, outputTokens: 0, calls: 1 },
  answer: 'x',
  records: [],
  from: 0,
  messages: [{ role: 'user', content: 'Hi' }],
  rest: { state: {} },
}
