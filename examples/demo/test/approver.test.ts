import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { PendingCall } from 'allium'
import { expect, it } from 'vitest'
import { scriptedApprover } from '../src/approver/scripted-approver.ts'
import { terminalApprover } from '../src/approver/terminal-approver.ts'
import { createScreen } from '../src/screen/screen.ts'

const refund = (amount: number): PendingCall => ({ callId: 'c1', name: 'refund', args: { orderId: 'A-1042', amount } })

it.each([
  ['y', { approve: true }],
  [' Yes ', { approve: true }],
  ['n', { deny: 'The approver says no.' }],
  ['no', { deny: 'The approver says no.' }],
  ['n send it back first', { deny: 'The approver says no: send it back first' }],
  ['No, it is worn.', { deny: 'The approver says no: it is worn.' }],
])('takes "%s" at the terminal', async (typed, approval) => {
  const { input, answer } = ask()
  input.write(`${typed}\n`)
  expect(await answer).toEqual(approval)
  expect(input.isPaused()).toBe(true) // or the process would not end
})

it.each(['', 'what?', 'yes but less', 'nothing'])('asks again after "%s", which is neither', async (typed) => {
  const { input, answer, shown } = ask()
  input.write(`${typed}\n`)
  await new Promise((resolve) => setTimeout(resolve, 20))
  input.write('y\n')
  expect(await answer).toEqual({ approve: true })
  expect((await shown()).match(/Approve\?/g)).toHaveLength(2)
})

it('treats the end of the input as a denial, for this and later calls', async () => {
  const { input, answer, approver } = ask()
  input.end()
  expect(await answer).toEqual({ deny: 'There was no answer.' })
  expect(await approver(refund(1), new AbortController().signal)).toEqual({ deny: 'There was no answer.' })
})

it('ends when the run is interrupted', async () => {
  const { answer, interrupt } = ask()
  interrupt.abort(new DOMException('Ctrl-C', 'AbortError'))
  await expect(answer).rejects.toThrow('Ctrl-C')
})

it.each([
  [100, { approve: true }, 'yes (scripted'],
  [101, { deny: 'The approver says no: send the goods back first.' }, 'no, send the goods back first (scripted'],
])('decides on $%d by a script without a terminal, and reports that', async (amount, approval, said) => {
  const out = new PassThrough()
  const approver = scriptedApprover(createScreen(out))
  expect(await approver(refund(amount), new AbortController().signal)).toEqual(approval)
  out.end()
  expect(await text(out)).toContain(said)
})

/** A question that waits at a terminal. */
function ask() {
  const input = new PassThrough()
  const out = new PassThrough()
  const interrupt = new AbortController()
  const approver = terminalApprover(input, createScreen(out))
  const answer = approver(refund(1060), interrupt.signal)
  const shown = () => {
    out.end()
    return text(out)
  }
  return { input, answer, approver, interrupt, shown }
}
