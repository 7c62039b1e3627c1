import { mock, weather } from '../sides/mock.mjs'
import { tally } from '../sides/tally.mjs'
import { timed } from '../timed.mjs'

const labels = [{ untrusted: true }, { private: true }, { sends: true }, { writes: true }, {}]
const labelled = Array.from({ length: 10 }, (_, i) => ({
  ...weather,
  name: i === 0 ? weather.name : `weather${i}`,
  flow: labels[i % labels.length],
}))

/** A turn with a tool call inside the layers of a SaaS backend, without guard.flow and with it. */
export const flow = { without: () => turns(false), allium: () => turns(true) }

async function turns(isGuarded) {
  const { stack } = await import('../sides/stack.mjs')
  const { flow: guard } = await import('@allium/guard')
  const { bare } = await import('../sides/allium.mjs')
  const layers = [...Object.values(stack).map((layer) => layer()), ...(isGuarded ? [guard()] : [])]
  const agent = await bare({ model: mock({ steps: 1 }), tools: labelled, layers })
  const { add, check } = tally()
  let asked = 0
  const once = async () => {
    const session = agent.session({ principal: { tenantId: 'acme', userId: 'ann' } })
    add(await session.run(`Where is my order ${++asked}? It should have been here on Monday.`))
    await session.close()
  }
  const alike = ({ messages, ...sums }) => ({ ...sums, messages: JSON.stringify(messages).replace(/\d+/, 'n') })
  return { sample: () => timed(20, once), check: () => alike(check()), once, per: 1 }
}
