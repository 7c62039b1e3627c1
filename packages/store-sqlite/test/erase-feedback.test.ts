import { manualClock } from '@allium/testing'
import { expect, it } from 'vitest'
import { fileIn } from './files.ts'
import { plansOf } from './plans.ts'

it('erases what a person has said by an index, without reading the feedback of the tenant', async () => {
  const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }
  const plans = await plansOf(fileIn(), manualClock(), async ({ feedback, sessions }) => {
    await feedback.put({ run: { key, turnId: 't1' }, by: 'bob', score: 1, at: 1 })
    await feedback.put({ run: { key, turnId: 't1' }, by: 'eve', score: 0, at: 1 })
    await sessions.erase({ tenant: 'acme', owner: 'bob' })
    expect((await feedback.list({ agent: 'agent', limit: 9 })).items.map(({ by }) => by)).toEqual(['eve'])
  })
  const ofAuthor = [...plans].find(([sql]) => sql.startsWith('delete from feedback') && sql.includes('author = ?'))?.[1]
  expect(ofAuthor).toContain('USING INDEX feedback_by_author (author=? AND tenant=?)')
  const all = [...plans].filter(([sql]) => sql.startsWith('delete from feedback')).map(([, plan]) => plan)
  expect([all.length > 1, all.join('\n').includes('SCAN feedback')]).toEqual([true, false])
})
