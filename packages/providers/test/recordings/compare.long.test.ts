import { describe, expect, it } from 'vitest'
import { byAgent, bySdk } from './compare.ts'
import { cases } from './shapes/index.ts'

describe.each(cases)('$title', ({ recording, version }) => {
  it('comes to what streamText makes of the same bytes, and each further request is the one that it sends', async () => {
    expect(await byAgent(recording, version)).toEqual(await bySdk(recording, version))
  })
})
