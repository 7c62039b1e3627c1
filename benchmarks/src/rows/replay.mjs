import { weather } from '../sides/mock.mjs'

const [sessions, turns] = [200, 5]

let lastId = 0

/** Asks for a tool once in each turn, then answers. */
const model = {
  id: 'mock',
  async *stream({ messages }) {
    const isFirst = messages.at(-1)?.role === 'user'
    const callId = `call${++lastId}`
    if (isFirst) {
      yield { type: 'tool-input-start', callId, name: 'weather' }
      yield { type: 'tool-input-delta', callId, delta: '{"city":"Rome"}' }
      yield { type: 'tool-input-end', callId }
    } else yield { type: 'text-delta', delta: 'Sunny.' }
    yield { type: 'finish', reason: isFirst ? 'tool-calls' : 'stop', usage: { inputTokens: 10, outputTokens: 5 } }
  },
}

/** 1,000 recorded turns of one agent with six layers through the same agent, exact: 200 sessions of five turns, from a store in memory. */
export const replayed = {
  async allium() {
    const { Agent } = await import('@allium/core')
    const guard = await import('@allium/guard')
    const { persist } = await import('@allium/memory')
    const models = await import('@allium/model')
    const observe = await import('@allium/observe')
    const { record } = await import('@allium/replay')
    const { readRecordings } = await import('@allium/replay/recorded')
    const { replay } = await import('@allium/replay/replay')
    const { memoryStore } = await import('@allium/store')
    const store = memoryStore()
    const agentWith = (...outer) =>
      new Agent({ name: 'bench', model, orderCheck: 'off', tools: [weather] })
        .use(outer)
        .use([
          observe.usage(),
          guard.policy({ deny: ['nothing'] }),
          guard.maxToolCalls({ limit: 20 }),
          guard.pii({ types: ['email'] }),
          models.retry(),
          guard.timeout({ model: 60_000 }),
        ])
    const recorded = agentWith(persist({ store }), record({ store: store.recordings }))
    for (let i = 0; i < sessions; i++) {
      const session = recorded.session({ id: `s${i}`, principal: { tenantId: `t${i % 7}`, userId: `u${i}` } })
      for (let turn = 0; turn < turns; turn++) await session.run('Hi')
    }
    let last
    return {
      async sample() {
        const read = []
        for await (const turn of readRecordings({ recordings: store.recordings, sessions: store, agent: 'bench' }))
          read.push(turn)
        const before = process.cpuUsage()
        const report = await replay({ agent: agentWith(), recordings: read, mode: 'exact' })
        const { user, system } = process.cpuUsage(before)
        last = { replayed: report.replayed, same: report.same }
        if (report.same !== sessions * turns) throw new Error(`Only ${report.same} of the replayed turns are the same.`)
        return (user + system) / 1e3 / report.replayed
      },
      check: () => ({ ...last }),
    }
  },
}
