import { Agent } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { isTransient } from '../../../shared/src/resilience.ts'
import { before, cutCases } from './parts/cuts.ts'
import { partsModel } from './parts/model.ts'

describe.each(cutCases)('an answer that was cut: $title', ({ form, place }) => {
  it.each([
    ['alone', []],
    ['behind a whole call', before],
  ])('%s is truncated, is retried, and runs no tool', async (_, earlier) => {
    const ran: unknown[] = []
    const now = {
      name: 'now',
      description: 'Tells the time',
      jsonSchema: {},
      execute: (args: unknown) => ran.push(args),
    }
    const { specification, provider, fails } = form
    const model = partsModel([...earlier, ...form.parts(place)], specification, provider, fails?.(place))
    const run = new Agent({ model, tools: [now], logger: { warn() {}, error() {} } }).run('Hi')
    const error = await run.then(
      ({ status, text }) => `${status} with ${text}`,
      (reason: unknown) => reason,
    )
    expect(error).toMatchObject({ code: 'model.truncated' })
    expect(isTransient(error)).toBe(true)
    expect(ran).toEqual([])
  })
})
