import type { Model } from 'allium'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runExample } from '../../run-example.ts'
import { openBooks } from '../src/books.ts'
import { createChatAgent } from '../src/chat-agent.ts'
import { ask, fetchBill } from '../src/client.ts'
import { listen } from '../src/listen.ts'
import type { Principal } from '../src/principal.ts'

describe('a budget for each tenant', { timeout: 60_000 }, () => {
  it('shows a used-up budget, the bills, a rate limit, and concurrent turns', async () => {
    const { code, out, err } = await runExample(import.meta.url)
    expect([code, err]).toEqual([0, ''])
    const lines = out.split('\n')
    expect(lines.filter((line) => line === 'acme     completed: Let me see: yes.')).toHaveLength(3)
    expect(out).toMatch(/^globex {3}blocked: Your team has used up today's starter budget\. It resets at/m)
    expect(lines).toContain('initech  completed, after 1 reset: Let me see: yes.')
    // 20 tokens at $1 and 100 at $4 for a million; the cut call its input of 18 and 3 tokens that were streamed.
    expect(lines).toContain('globex   $0.000420 + $0.000420 = $0.000840')
    expect(lines).toContain('initech  $0.000030 + $0.000420 = $0.000450')
    expect(lines).toContain('acme     HTTP 429, retry after a minute or less')
    expect(lines).toContain('hooli    10 completed, 90 blocked')
    expect(lines).toContain('hooli    10 calls, $0.004200 of $0.0045')
  })

  it('admits 10 of 100 concurrent turns', async () => {
    const { model, started, open } = gated()
    const { ledger, bill } = openBooks()
    const agent = createChatAgent(model, ledger)
    const runs = Array.from({ length: 100 }, (_, i) =>
      agent.run('Is it true?', { session: { principal: { tenantId: 'hooli', userId: `user-${i}`, plan: 'team' } } }),
    )
    let refused = 0
    await new Promise<void>((resolve) => {
      for (const run of runs) void run.then(({ status }) => status === 'blocked' && ++refused === 90 && resolve())
    })
    expect([started(), bill('hooli').total]).toEqual([10, 0])
    open()
    const statuses = (await Promise.all(runs)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 'completed')).toHaveLength(10)
    expect(bill('hooli').total).toBeCloseTo(0.0042, 10)
  })

  it('rejects callers without a key, and returns the bill of the own tenant only', async () => {
    const dana: Principal = { tenantId: 'acme', userId: 'dana', plan: 'business' }
    const hank: Principal = { tenantId: 'globex', userId: 'hank', plan: 'starter' }
    const { url, close } = await listen({
      keys: new Map([
        ['d', dana],
        ['h', hank],
      ]),
      log() {},
    })
    onTestFinished(close)
    expect(await ask(url, 'd', 'Is it?')).toMatchObject({ http: 200, status: 'completed' })
    expect(await ask(url, 'x', 'Is it?')).toMatchObject({ http: 401 })
    expect(await ask(url, 'd', 'x'.repeat(5_000))).toMatchObject({ http: 400 })
    expect(await ask(url, 'd', 'x'.repeat(50_000))).toMatchObject({ http: 413 })
    expect((await fetchBill(url, 'd')).lines).toHaveLength(1)
    expect((await fetchBill(url, 'h')).lines).toHaveLength(0)
  })

  it('cancels the request to the provider, and settles its cost, when the user disconnects', async () => {
    const keys = new Map<string, Principal>([['d', { tenantId: 'acme', userId: 'dana', plan: 'business' }]])
    let log = (_: string) => {}
    const logged = new Promise<string>((resolve) => {
      log = resolve
    })
    const { url, close } = await listen({ keys, log: (line) => log(line), model: gated().model })
    onTestFinished(close)
    const user = new AbortController()
    const body = JSON.stringify({ question: 'Is it true?' })
    const request = { method: 'POST', headers: { authorization: 'Bearer d' }, body, signal: user.signal }
    const { body: stream } = await fetch(`${url}/chat`, request)
    await stream!.getReader().read()
    user.abort()
    expect(await logged).toContain('aborted')
    expect((await fetchBill(url, 'd')).lines).toEqual([expect.closeTo(0.00003, 5)])
  })
})

/** A model that starts to answer, then waits for a signal. */
function gated() {
  let started = 0
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const model: Model = {
    id: 'played/model',
    async *stream({ signal }) {
      started++
      yield { type: 'text-delta', delta: 'Let me see: ' }
      await Promise.race([
        gate,
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      ])
      yield { type: 'text-delta', delta: 'yes.' }
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 20, outputTokens: 100 } }
    },
  }
  return { model, open, started: () => started }
}
