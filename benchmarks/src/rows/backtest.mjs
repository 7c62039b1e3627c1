import { weather } from '../sides/mock.mjs'

const [sessions, turns, steps] = [400, 5, 5]

let lastId = 0

/** Asks for `steps` tool calls in each turn, one per answer. The ids of calls are unique in a session. */
const model = {
  id: 'mock',
  async *stream({ messages }) {
    const done = messages.length - 1 - messages.findLastIndex(({ role }) => role === 'user')
    const callId = `call${++lastId}`
    if (done < 2 * steps) {
      yield { type: 'tool-input-start', callId, name: 'weather' }
      yield { type: 'tool-input-delta', callId, delta: '{"city":"Rome"}' }
      yield { type: 'tool-input-end', callId }
    } else yield { type: 'text-delta', delta: 'Sunny.' }
    const reason = done < 2 * steps ? 'tool-calls' : 'stop'
    yield { type: 'finish', reason, usage: { inputTokens: 10, outputTokens: 5 } }
  },
}

/**
 * 10,000 recorded tool calls through a changed agent, from a store in memory: 400 sessions of five turns with five calls each. The
 * agent then had a policy. The changed one denies the last call of each turn.
 */
export const backtested = {
  async allium() {
    const { Agent } = await import('@allium/core')
    const guard = await import('@allium/guard')
    const { persist } = await import('@allium/memory')
    const { record } = await import('@allium/replay')
    const { backtest } = await import('@allium/replay/backtest')
    const { readRecordings } = await import('@allium/replay/recorded')
    const { memoryStore } = await import('@allium/store')
    const store = memoryStore()
    const agentWith = (...layers) =>
      new Agent({ name: 'bench', model, orderCheck: 'off', tools: [weather] }).use(layers)
    const recorded = agentWith(
      persist({ store }),
      record({ store: store.recordings }),
      guard.policy({ deny: ['nothing'] }),
    )
    for (let i = 0; i < sessions; i++) {
      const session = recorded.session({ id: `s${i}`, principal: { tenantId: `t${i % 7}`, userId: `u${i}` } })
      for (let turn = 0; turn < turns; turn++) await session.run('Hi')
    }
    const changed = () => agentWith(guard.policy({ deny: ['nothing'] }), guard.maxToolCalls({ limit: steps - 1 }))
    let last
    return {
      async sample() {
        const before = process.cpuUsage()
        const recordings = readRecordings({ recordings: store.recordings, sessions: store, agent: 'bench' })
        const { calls } = await backtest({ agent: changed, recordings })
        const { user, system } = process.cpuUsage(before)
        last = calls
        const { judged, newlyDenied, unchanged } = calls
        if (judged !== 10_000 || newlyDenied !== 2_000 || unchanged !== 8_000)
          throw new Error(`The backtest judged ${judged} calls, and found ${newlyDenied} newly denied.`)
        return (user + system) / 1e6
      },
      check: () => ({ ...last }),
    }
  },
}
