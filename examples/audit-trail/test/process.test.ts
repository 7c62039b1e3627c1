import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as observe from 'allium/observe'
import { afterAll, describe, it } from 'vitest'
import { runExample } from '../../run-example.ts'
import { threeTurns } from '../src/three-turns.ts'

const folder = mkdtempSync(join(tmpdir(), 'allium-audit-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe.concurrent('an audit trail', { timeout: 60_000 }, () => {
  it('shows three turns with their records, and detects each way of tampering', async ({ expect }) => {
    const { code, out, err } = await runExample(import.meta.url)
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('completed  Pay INV-8, $9,000.\naborted    Tell me about all payments')
    expect(out).toMatch(/^13 {2}dana {2}tool:end · pay_invoice · denied · Over \$500, two sign\.$/m)
    expect(out).toMatch(/^20 {2}dana {2}turn:end · aborted · the user closed the page$/m)
    for (const [what, found] of [
      ['untouched', 'ok, 20 records'],
      ['a denial made an approval', 'line 13: edited'],
      ['one record removed', 'line 3: order'],
      ['two records swapped', 'line 1: order'],
      ['the last turn cut off, no head', 'ok, 17 records'],
      ['the last turn cut off', 'line 18: missing'],
      ['all of it forged, no secret, no head', 'ok, 20 records'],
      ['all of it forged, no secret', 'line 20: replaced'],
      ['all of it forged', 'line 1: edited'],
    ])
      expect(out).toMatch(new RegExp(`^${what} {2,}${found}$`, 'm'))
    expect(out).toContain('"guard:policy" denied the call of "pay_invoice": Over $500, two sign.')
    expect(out).toMatch(/was cut off by an abort: the user closed the page/)
  })

  it('detects a change of one character anywhere', async ({ expect }) => {
    const file = join(folder, 'any.jsonl')
    const { head } = await threeTurns({ file, secret: 's' })
    const text = readFileSync(file, 'utf8')
    for (let at = 10; at < text.length; at += 97) {
      const changed = text.slice(0, at) + (text[at] === '0' ? '1' : '0') + text.slice(at + 1)
      expect(await observe.verify(changed, { head, secret: 's' }), text.slice(at - 10, at + 1)).toMatchObject({
        ok: false,
      })
    }
  })

  it('stores digests instead of messages and payments, in a file that only its owner can read', async ({ expect }) => {
    const file = join(folder, 'private.jsonl')
    await threeTurns({ file, secret: 's' })
    for (const said of ['INV-7', '9000', 'This year', 'all payments'])
      expect(readFileSync(file, 'utf8')).not.toContain(said)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('continues the chain of the previous process', async ({ expect }) => {
    const file = join(folder, 'twice.jsonl')
    await threeTurns({ file })
    const { head } = await threeTurns({ file })
    expect(await observe.verify(observe.auditFile(file), { head })).toMatchObject({ ok: true, records: 40 })
  })
})
