import type { ContentChunk } from '@allium/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineCleaner } from '../../src/flow/line-cleaner.ts'
import { linkFilter } from '../../src/flow/link-filter.ts'
import { hostFilter, removeLinks } from '../../src/flow/links.ts'
import { hostileMarkdown } from './hostile-markdown.ts'
import { fastReaders, leadsElsewhere } from './readers.ts'

/** `HOSTILE_CASES=200000 HOSTILE_SEED=7` tries more of them, and others. */
const numRuns = Number(process.env.HOSTILE_CASES ?? 1_000)
const seed = Number(process.env.HOSTILE_SEED ?? 33)
const allowed = new Set(['good.test'])
const may = hostFilter([...allowed])

describe('hostile Markdown', { timeout: 24 * 3_600_000 }, () => {
  it('leads nowhere in any reader', () => {
    let tried = 0
    fc.assert(
      fc.property(hostileMarkdown, (markdown) => {
        const clean = removeLinks(markdown, may)
        const names = tried++ % 10 === 0 ? undefined : fastReaders
        expect([clean, leadsElsewhere(clean, allowed, names)]).toEqual([clean, []])
      }),
      { numRuns, seed },
    )
  })

  it('leads nowhere in a reader that shows each piece of a stream as it comes, wherever it is cut and whatever comes between', async () => {
    const cuts = fc.array(fc.tuple(fc.nat(40), fc.constantFrom('', '', 'thought', 'block', 'file')), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(hostileMarkdown, cuts, async (markdown, places) => {
        let shown = ''
        const pipe = linkFilter(may, { answerTool: undefined, isJson: false }, () => {})
        for await (const chunk of pipe(streamOf(markdown, places), {} as never)) {
          if (chunk.type !== 'text-delta' || chunk.delta === '') continue
          shown += chunk.delta
          expect([shown, leadsElsewhere(shown, allowed, fastReaders)]).toEqual([shown, []])
        }
      }),
      { numRuns: Math.ceil(numRuns / 10), seed },
    )
  })

  it('leads nowhere where a reader joins the texts of all steps of a turn, cleaned or not before', async () => {
    await fc.assert(
      fc.asyncProperty(hostileMarkdown, hostileMarkdown, fc.boolean(), async (first, second, isClean) => {
        const text = isClean ? removeLinks(first, may) : first.replace(/<|:|www|\./g, '')
        const pipe = linkFilter(may, { answerTool: undefined, isJson: false, displayed: { text, isClean } }, () => {})
        let shown = text
        for await (const chunk of pipe(streamOf(second, []), {} as never))
          if (chunk.type === 'text-delta') shown += chunk.delta
        const before = leadsElsewhere(text, allowed, fastReaders)
        const found = leadsElsewhere(shown, allowed, fastReaders).filter((one) => !before.includes(one))
        expect([shown, found]).toEqual([shown, []])
      }),
      { numRuns: Math.ceil(numRuns / 10), seed },
    )
  })

  it('comes out the same, wherever the stream is cut', () => {
    fc.assert(
      fc.property(hostileMarkdown, fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), (markdown, lengths) => {
        const cleaner = new LineCleaner(may, { code: true })
        let out = ''
        for (let at = 0, i = 0; at < markdown.length; i++) {
          const length = lengths[i % lengths.length] as number
          out += cleaner.push(markdown.slice(at, at + length))
          at += length
        }
        expect(out + cleaner.flush()).toBe(removeLinks(markdown, may))
      }),
      { numRuns, seed },
    )
  })
})

async function* streamOf(text: string, places: readonly (readonly [number, string])[]): AsyncGenerator<ContentChunk> {
  let from = 0
  let id = 0
  for (const [length, what] of [...places, [Infinity, ''] as const]) {
    yield { type: 'text-delta', delta: text.slice(from, from + length), id: String(id) }
    from += length
    if (what === 'thought') yield { type: 'reasoning-delta', delta: 'Hm ' }
    if (what === 'file') yield { type: 'file', data: 'AAAA', mediaType: 'image/png' }
    if (what === 'block') id++
  }
}
