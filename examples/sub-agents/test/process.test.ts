import { beforeEach, describe, expect, it } from 'vitest'
import { runExample } from '../../run-example.ts'
import { createNewsroom } from '../src/newsroom.ts'
import { playedCast } from '../src/played-cast.ts'
import { published } from '../src/tools/publish-note.ts'

const principal = { tenantId: 'acme', userId: 'dana' }
const question = 'Publish a note on the history of the onion.'

beforeEach(() => void published.splice(0))

describe('sub-agents', { timeout: 60_000 }, () => {
  it('shows the calls of each agent, the pending call, the bill, and a used-up budget', async () => {
    const { code, out, err } = await runExample(import.meta.url)
    expect([code, err]).toEqual([0, ''])
    const [, work, waits, bill, poor] = out.split('── ') as [string, string, string, string, string]
    expect(work).toMatch(/^ {2}lead › researcher +search_archive: denied, The argument "shelf"/m)
    expect(work).toMatch(/^ {2}lead › researcher +completed after 3 model calls$/m)
    expect(work).toMatch(/^lead +suspended$/m)
    expect(waits).toMatch(/^write\/publish: writer wants publish_note \{"title":"On onions"/m)
    expect(waits).toMatch(/^published: 0$[\s\S]*^published: On onions, for acme$/m)
    expect(sum(bill, /^run \d/)).toEqual([8, 1500, 300])
    expect(sum(bill, /^played/)).toEqual([8, 1500, 300])
    expect(bill).toMatch(/^the tenant's day +\$0\.0090$/m) // 1500 at $3 and 300 at $15 for a million
    expect(poor).toMatch(/^lead +blocked · The budget .* \$0\.003 spent/m)
  })

  it('publishes nothing after a denial, and gives the writer the reason', async () => {
    const cast = playedCast()
    const session = createNewsroom(cast).session({ principal })
    await session.run(question)
    await session.resume({ 'write/publish': { deny: 'Not before Monday.' } })
    expect(published).toEqual([])
    expect(JSON.stringify(cast.writer.requests[1]?.messages)).toContain('Not before Monday.')
  })

  it('continues from a snapshot of the lead, in another session', async () => {
    const cast = playedCast()
    const before = createNewsroom(cast).session({ principal })
    await before.run(question)
    const session = createNewsroom(cast).session({ id: before.id, principal })
    session.restore(JSON.parse(JSON.stringify(before.snapshot())))
    const { text } = await session.resume({ 'write/publish': { approve: true } })
    expect([text, published.length]).toEqual(['The note about onions is out.', 1])
  })
})

/** The numbers of the lines that begin so, added up: calls, tokens in, tokens out. */
function sum(text: string, begins: RegExp): number[] {
  const lines = text.split('\n').filter((line) => begins.test(line))
  const numbers = lines.map((line) => /(\d+) calls, (\d+) tokens in, (\d+) out/.exec(line)!.slice(1).map(Number))
  return numbers.reduce((total, line) => total.map((value, i) => value + line[i]!), [0, 0, 0])
}
