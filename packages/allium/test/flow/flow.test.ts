import { describe, expect, it } from 'vitest'
import { attack } from './attack.ts'
import { sinks, sources } from './scenario.ts'

/** Each source with each sink. */
const count = Number(process.env.FLOW_CASES ?? sources.length * sinks.length)

describe('guard.flow around a model that obeys every text', () => {
  it(`lets none of ${count} attacks through without a question that names the sources`, async () => {
    expect(await attack(count)).toBeUndefined()
  })
})
