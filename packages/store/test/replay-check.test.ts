import { expect, it } from 'vitest'
import { ReplayCheck } from '../src/replay-check.ts'

const call = 't:tool:look:c1:1'
const record = 't:once:audit'

it('does not wait for the agent of a record that a replayed tool call may have made', () => {
  const check = new ReplayCheck()
  check.add(call, [])
  check.add(record, [call])
  // The record outlasted the call, so this step began after it.
  check.add(`${record}/judge:model:0:1`, [])
  check.use(call)
  expect([check.wait('t:model:1:1'), check.missing()]).toEqual([undefined, undefined])
  check.checkEnd('t')
})

it('tells a record and the steps of its agent that the code no longer requests', async () => {
  const check = new ReplayCheck((expired) => {
    const timer = setImmediate(expired)
    return () => clearImmediate(timer)
  })
  check.add(record, [])
  check.add(`${record}/judge:model:0:1`, [])
  await expect(check.wait('t:model:1:1')).rejects.toMatchObject({
    code: 'journal.diverged',
    details: { step: record },
  })
})
