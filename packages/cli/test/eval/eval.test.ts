import { describe, expect, it } from 'vitest'
import { evalFile, project } from './project.ts'

describe('allium eval', () => {
  it('runs the evaluations in evals/, prints their tables, and exits by the verdict', async () => {
    const { allium, read } = project({ 'evals/support.eval.ts': evalFile() })
    const { code, out, err } = await allium(['eval'])
    expect(err).toContain('support: 60 trials\n')
    expect(out).toMatch(/^desk: 60 cases, 1 trials? each: pass\n/)
    expect(code).toBe(0)
    expect(JSON.parse(read('.allium/evals/support.json') ?? '')).toMatchObject({ verdict: 'pass' })
  })

  it.each([
    ['fails', { lost: 60 }, [], 1],
    ['is undecided', { cases: 4 }, [], 5],
    ['is undecided, and that is allowed', { cases: 4 }, ['--allow-undecided'], 0],
    ['has no baseline', { gates: '{ right: { maxDrop: 0.1 } }' }, [], 6],
    ['has no gates', { gates: '{}' }, [], 0],
  ])('exits with a code of its own if a gate %s', async (_, options, argv, code) => {
    const { allium } = project({ 'evals/support.eval.ts': evalFile(options) })
    expect(await allium(['eval', ...argv])).toMatchObject({ code })
  })
})
