import { mock, weather } from '../sides/mock.mjs'
import { tally } from '../sides/tally.mjs'
import { timed } from '../timed.mjs'

const count = 60

/** A turn of one model call, in a session of its own, inside the layers of a SaaS backend. */
export const saas = {
  bare: () => turns([]),
  async allium() {
    const { stack } = await import('../sides/stack.mjs')
    return turns(Object.values(stack).map((layer) => layer()))
  },
}

async function turns(layers) {
  const turn = await turnOf(layers)
  const { add, check } = tally()
  const once = async () => add(await turn())
  // Its messages but for the number of the question.
  const alike = ({ messages, ...sums }) => ({ ...sums, messages: JSON.stringify(messages).replace(/\d+/, 'n') })
  return { sample: () => timed(count, once), check: () => alike(check()), once, per: 1 }
}

/** @param {object[]} layers */
export async function turnOf(layers) {
  const { bare } = await import('../sides/allium.mjs')
  const agent = await bare({ model: mock(), tools: [weather], layers })
  const findings = agent.check()
  if (findings.length > 0) throw new Error(findings.map(({ message }) => message).join('\n'))
  let asked = 0
  return async () => {
    const session = agent.session({ principal: { tenantId: 'acme', userId: 'ann' } })
    // Each question is another one: none is answered from the cache.
    const result = await session.run(`Where is my order ${++asked}? It should have been here on Monday.`)
    await session.close()
    return result
  }
}
