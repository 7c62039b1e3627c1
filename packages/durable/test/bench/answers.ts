import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Agent, type Model } from '@allium/core'
import { persist } from '@allium/memory'
import { sqlite } from '@allium/store-sqlite'
import { durable } from '../../src/index.ts'
import { printMissed } from './missed.ts'

/** How much longer the slowest answers of 200 chunks take than the median: 16 clients at the same time, each with its own session. */
const { values } = parseArgs({ options: { requests: { type: 'string', default: '1000' } } })
const [clients, chunks, most] = [16, 200, 4]
const requests = Number(values.requests)
const model: Model = {
  id: 'bench/model',
  async *stream() {
    for (let i = 0; i < chunks; i++) yield { type: 'text-delta', delta: `${i} ` }
    yield { type: 'finish', reason: 'stop', usage: { inputTokens: 10, outputTokens: chunks } }
  },
}
const folder = mkdtempSync(join(tmpdir(), 'allium-bench-'))
const store = sqlite(join(folder, 'bench.db'))
const runs = durable(new Agent({ version: '1', model }).use(persist({ store: store.sessions })), { store })

const times: number[] = []
/** Each client warms up with one more. */
let left = requests + clients
await Promise.all(Array.from({ length: clients }, (_, own) => client(own)))
times.sort((a, b) => a - b)
const [median, tail, longest] = [0.5, 0.99, 1].map((share) => times[Math.floor(share * (times.length - 1))] ?? 0)
const ratio = (tail as number) / (median as number)
const cells = [times.length, ms(median), ms(tail), ms(longest), `${ratio.toFixed(2)} (≤ ${most})`]
console.log(
  `\n| answers of ${chunks} chunks, ${clients} clients | median, ms | p99, ms | longest, ms | p99 / median | met |`,
)
console.log(`|---|---|---|---|---|---|\n| ${[...cells, ratio <= most ? 'yes' : 'NO'].join(' | ')} |`)
printMissed('answers', ratio <= most ? [] : [`answers of ${chunks} chunks, p99 / median`])
await runs.drain()
store.close()
rmSync(folder, { recursive: true, force: true })
process.exit(ratio <= most ? 0 : 1)

async function client(own: number): Promise<void> {
  for (let n = 0; left-- > 0; n++) {
    const began = performance.now()
    const { run } = await runs.start({ sessionId: `s${own}-${n % 10}`, input: 'Count.' })
    for await (const _ of runs.attach(run, {}));
    if (n > 0) times.push(performance.now() - began)
  }
}

function ms(value: number | undefined): string {
  return (value ?? 0).toFixed(1)
}
