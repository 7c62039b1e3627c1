import { expect, it } from 'vitest'
import { ReplayCheck } from '../src/replay-check.ts'

const call = 't:tool:ask:1'
const agent = 't/ask:0:start'
const record = 't:once:audit:1'

it('does not wait for a record that was made for the agent of a replayed call, or for what is inside of it', () => {
  const check = new ReplayCheck()
  check.add(call, [])
  check.add(agent, [])
  check.add(record, [call])
  // The record outlasted the call, so this step began after it.
  check.add(`${record}/judge:model:0:1`, [])
  check.use(call)
  expect([check.wait('t:model:1:1'), check.missing()]).toEqual([undefined, undefined])
  check.checkEnd('t')
})

it('does not wait for a record that the tool of a replayed call made', () => {
  const check = new ReplayCheck()
  check.add(call, [])
  check.add('t:once:tool:ask:sent:1', [call])
  check.use(call)
  expect([check.missing(), check.wait('t:model:1:1')]).toEqual([undefined, undefined])
})

it.each([
  ['another call', 't:once:tool:pay:stamp:1', agent],
  ['the turn, while no agent ran', record, undefined],
])('tells a record of %s that the code no longer requests', (_, step, started) => {
  const check = new ReplayCheck()
  check.add(call, [])
  if (started !== undefined) check.add(started, [])
  check.add(step, [call])
  check.use(call)
  expect(check.missing()).toBe(step)
  expect(() => check.checkEnd('t')).toThrow(`The step "${step}" is recorded`)
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
