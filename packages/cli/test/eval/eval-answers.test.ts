import { describe, expect, it } from 'vitest'
import { evalFile, project } from './project.ts'

const file = 'evals/support.answers.jsonl'
/** The same evaluation, with a model that cannot be reached. */
const offline = () => evalFile().replace(/const model = [\s\S]*?\n}\)\)\n/, unreachable)
const unreachable = `const model = { id: 'scripted/model', async *stream() { throw new Error('There is no network.') } }\n`

async function recorded() {
  const desk = project({ 'evals/support.eval.ts': evalFile() })
  const { code, err } = await desk.allium(['eval', '--record'])
  expect([code, desk.read(file)?.trim().split('\n').length]).toEqual([0, 60])
  expect(err).toContain(`60 answers were recorded in ${file}. Commit it.`)
  return project({ 'evals/support.eval.ts': offline(), [file]: desk.read(file) ?? '' })
}

describe('allium eval with recorded answers', () => {
  it('answers from the file in CI, and with --replay', async () => {
    const { allium } = await recorded()
    expect(await allium(['eval'], { env: { CI: 'true' } })).toMatchObject({
      code: 0,
      err: expect.stringContaining('60 answers from'),
    })
    expect(await allium(['eval', '--replay'])).toMatchObject({ code: 0 })
  })

  it('calls the model elsewhere, and in CI with --live', async () => {
    const { allium } = await recorded()
    expect(await allium(['eval'])).toMatchObject({ code: 6 })
    expect(await allium(['eval', '--live'], { env: { CI: 'true' } })).toMatchObject({ code: 6 })
  })

  it('is invalid if answers are missing, and says how to record them', async () => {
    const { allium, read, write } = await recorded()
    write(file, read(file)?.split('\n').slice(0, 40).join('\n') ?? '')
    const { code, err } = await allium(['eval', '--replay'])
    expect(code).toBe(6)
    expect(err).toContain('20 model calls have no recorded answer. Record them: allium eval support --record-missing')
  })

  it('does not remove the answers of cases that were left out', async () => {
    const { allium, read, write } = await recorded()
    write('evals/support.eval.ts', evalFile())
    await allium(['eval', '--record', '--cases', 'odd'])
    expect(read(file)?.trim().split('\n')).toHaveLength(60)
  })

  it('removes answers that no request asked for, and says so', async () => {
    const { allium, read, write } = await recorded()
    write('evals/support.eval.ts', evalFile({ cases: 50 }))
    const replayed = await allium(['eval', '--replay'])
    expect(replayed.err).toContain(
      '10 recorded answers are not used. Remove them: allium eval support --record-missing',
    )
    const { err } = await allium(['eval', '--record-missing'])
    expect(err).toContain(
      '0 answers were recorded in evals/support.answers.jsonl, and 10 that no request asked for were removed.',
    )
    expect(read(file)?.trim().split('\n')).toHaveLength(50)
  })

  it.each([
    [['--replay'], 'Record the answers: allium eval support --record'],
    [['--replay', '--live'], '--replay and --live exclude each other'],
  ])('explains the mistake in %j', async (argv, message) => {
    const { allium } = project({ 'evals/support.eval.ts': evalFile() })
    expect(await allium(['eval', ...argv])).toMatchObject({ code: 2, err: expect.stringContaining(message) })
  })
})
