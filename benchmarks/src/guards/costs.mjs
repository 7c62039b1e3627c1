import { Agent } from '@allium/core'
import { content, pii } from '@allium/guard'
import { readmes } from './readmes.mjs'

/** How many times as long as `normalize('NFKC')` a guard takes for the same text. */
export async function costs() {
  const text = readmes(300_000).join('\n')
  const keywords = Array.from({ length: 1000 }, (_, i) => `project ${word(i)}`)
  const bare = await timed(new Agent({ model: silent }), text)
  const normalized = best(40, () => text.normalize('NFKC'))
  const of = async (layer) => ((await timed(new Agent({ model: silent }).use(layer), text)) - bare) / normalized
  return { pii: await of(pii()), content: await of(content({ keywords, onFinding: 'redact' })) }
}

const word = (i) => i.toString(26).replace(/\d/g, (digit) => 'qrstuvwxyz'[digit])

const silent = {
  id: 'bench/none',
  async *stream() {
    yield { type: 'finish', finishReason: 'stop', usage: { inputTokens: 0, outputTokens: 0, calls: 1 } }
  },
}

async function timed(agent, text) {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < 40; i++) {
    const input = JSON.parse(JSON.stringify(`${i} ${text}`)) // in one piece, as texts come from outside
    const start = performance.now()
    await agent.run(input)
    least = Math.min(least, performance.now() - start)
  }
  return least
}

function best(times, work) {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < times; i++) {
    const start = performance.now()
    work()
    least = Math.min(least, performance.now() - start)
  }
  return least
}
