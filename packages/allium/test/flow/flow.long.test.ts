import { describe, expect, it } from 'vitest'
import { attack } from './attack.ts'

describe('guard.flow around a model that obeys every text', { timeout: 120_000 }, () => {
  it('lets none of 1,000 attacks through without a question that names the sources', async () => {
    expect(await attack(1_000)).toBeUndefined()
  })
})
