import { describe, expect, it } from 'vitest'
import { build } from './kit.ts'

describe('a session without wrappers', () => {
  it('starts its run in the same tick', () => {
    const log: string[] = []
    const { agent } = build(['ok'], [])
    const session = agent.session()
    agent.use('turn', (_, next) => {
      log.push('turn')
      return next()
    })
    return agent.init().then(async () => {
      const run = session.run('hi')
      expect(log).toEqual(['turn'])
      await run
    })
  })
})
