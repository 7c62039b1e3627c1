import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock, weather } from '../sides/mock.mjs'
import { tally } from '../sides/tally.mjs'
import { timed } from '../timed.mjs'

const short = 100
const long = 1000

/** A turn of 100 tool steps and one of 1,000, in a file of SQLite. */
export const longTurn = {
  async allium() {
    const { Agent } = await import('allium')
    const { sqlite } = await import('@allium/store-sqlite')
    const folder = mkdtempSync(join(tmpdir(), 'long-turn-'))
    process.on('exit', () => rmSync(folder, { recursive: true }))
    const store = sqlite(join(folder, 'db'))
    const { add, check } = tally()
    const agentOf = (steps) => new Agent({ model: mock({ steps }), tools: [weather], store, maxSteps: steps + 1 })
    const agents = { first: agentOf(short), last: agentOf(long) }
    let sessions = 0
    const timeOf = (agent, count) =>
      timed(count, async () => add(await agent.session({ id: `s${sessions++}` }).run('Hi')))
    return {
      sample: async () => ({ first: await timeOf(agents.first, 10), last: await timeOf(agents.last, 1) }),
      check,
    }
  },
}
