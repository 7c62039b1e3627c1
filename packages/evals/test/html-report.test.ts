import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { pageStyle, styleHash } from '../src/report/html/page-style.ts'
import { htmlReport } from '../src/report.ts'
import { hostile, reportOf, worse } from './report-kit.ts'

describe('htmlReport()', () => {
  it('allows only its own style', async () => {
    expect(styleHash).toBe(`sha256-${createHash('sha256').update(pageStyle).digest('base64')}`)
    const page = htmlReport(await reportOf({ cases: 3 }))
    expect(page).toContain(`content="default-src &#39;none&#39;; style-src &#39;${styleHash}&#39;;`)
  })

  it('loads nothing and runs no script', async () => {
    const { report, baseline } = await worse(hostile)
    const cases = report.cases.map((one, at) =>
      at === 0 ? { ...one, id: hostile, tags: [hostile], group: hostile } : one,
    )
    const page = htmlReport([{ name: hostile, report: { ...report, cases }, baseline }])
    const tags = [...page.matchAll(/<\/?([a-z0-9]*)([^>]*)>/gi)]
    const attributes = tags.flatMap(([, , text = '']) => [...text.matchAll(/([\w-]+)="/g)].map(([, name]) => name))
    expect(new Set(tags.map(([, name]) => name))).not.toContain('script')
    expect([...new Set(attributes)].filter((name) => /^(on|src|style|action|data)/.test(name ?? ''))).toEqual([])
    expect(page).not.toMatch(/<(script|img|link|iframe|object|a href="[^#])/i)
    expect(page.match(/<\/style>/g)).toHaveLength(1)
    expect(page).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
    expect(page).toContain('&#60;script&#62;alert(1)&#60;/script&#62;')
  })

  it('shows the cases against a failed gate first, with score, reason and layer', async () => {
    const baseline = await reportOf()
    const report = await reportOf({ lost: 24, baseline })
    const page = htmlReport({ ...report, cases: report.cases.toReversed() }, { baseline })
    const order = [...page.matchAll(/<details class="case" id="([^"]+)"><summary><span class="name">([^<]+)/g)]
    expect(order).toHaveLength(60)
    expect(order[0]?.[2]).toBe('order 24')
    expect(page).toContain('24 cases against it')
    expect(page).toContain(
      `<a href="#${order[0]?.[1]}">order 24</a>: 0, was 1. It was refused. Yes. · &#34;limit&#34; denied refund (new)`,
    )
  })

  it('cuts long texts, and shows further cases of a huge report without their trials', async () => {
    const text = 'x'.repeat(10_000)
    const report = await reportOf({ cases: 1200, text, gates: {} })
    const page = htmlReport(report)
    expect(page.length).toBeLessThan(6_000_000)
    expect(page).toContain('(6,000 more characters)')
    expect(page).toMatch(/\d+ more cases, without their trials/)
  })

  it('links several evaluations', async () => {
    const report = await reportOf({ cases: 3 })
    const page = htmlReport(
      [
        { name: 'support', report },
        { name: 'sales', report },
      ],
      { at: new Date('2026-01-02T03:04:05Z') },
    )
    expect(page).toContain('<li><a href="#eval-2">sales</a>: invalid</li>')
    expect(page).toContain('2026-01-02 03:04 UTC')
  })

  it('draws the interval of a gate beside its limit, in words too', async () => {
    const page = htmlReport(await reportOf({ gates: { right: { min: 0.9 } } }))
    expect(page).toMatch(/role="img" aria-label="mean &#62; 0\.9: 1 \(0\.95\d to 1\)"/)
  })
})
