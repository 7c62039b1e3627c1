import type { Call, Format } from '../format.ts'
import type { Outcome } from '../outcome.ts'
import { firstOf, type Scenario } from '../scenario.ts'
import { done, isDone } from './done.ts'

/** A call of `add`, or of `now` without arguments. */
export function callOf(
  format: Format,
  n = 1,
  { name = 'add', args = `{"a":${n}}`, id = format.callId?.(n) ?? '' } = {},
): Call {
  return { id, name, args }
}

function ranAs({ ran }: Outcome, expected: string): readonly [boolean, string] {
  const seen = ran.map(({ name, args }) => `${name}(${JSON.stringify(args)})`).join(' ')
  return [seen !== expected, `ran ${seen === '' ? 'nothing' : seen}`]
}

/** Calls of tools, and their way back. */
export const calls: readonly Scenario[] = [
  {
    name: 'call',
    promise: 'A tool runs once with the arguments, and its result is accepted.',
    async run(lab) {
      const outcome = await lab.ask([{ text: 'Wait.', calls: [callOf(lab.format)] }, done])
      const sent = JSON.stringify(outcome.script.requests.at(-1))
      return firstOf(isDone(outcome), ranAs(outcome, 'add({"a":1})'), [
        !sent.includes('three'),
        'the result is not sent',
      ])
    },
  },
  {
    name: 'call without arguments',
    promise: 'A tool without arguments runs, whether the provider sends an empty text or an empty object.',
    async run(lab) {
      for (const args of ['{}', '']) {
        const outcome = await lab.ask([{ calls: [callOf(lab.format, 1, { name: 'now', args })] }, done])
        const fault = firstOf(isDone(outcome), ranAs(outcome, 'now({})'))
        if (fault !== undefined) return `arguments ${JSON.stringify(args)}: ${fault}`
      }
    },
  },
  {
    name: 'two calls',
    promise: 'Two calls of one answer run, and both results are accepted.',
    async run(lab) {
      const outcome = await lab.ask([{ calls: [callOf(lab.format, 1), callOf(lab.format, 2)] }, done])
      return firstOf(isDone(outcome), ranAs(outcome, 'add({"a":1}) add({"a":2})'))
    },
  },
  {
    name: 'id used again',
    promise: 'A provider that gives each answer the same ids can call in every step and turn.',
    async run(lab) {
      const answer = { calls: [callOf(lab.format)] }
      const outcome = await lab.ask([answer, answer, done, answer, done], { more: ['Again'] })
      return firstOf(isDone(outcome), ranAs(outcome, 'add({"a":1}) add({"a":1}) add({"a":1})'))
    },
  },
  {
    name: 'one id for two calls',
    promise: 'Two calls of one answer with one id fail, or both run, or the model reads an error; neither is lost.',
    applies: ({ callId }) => callId !== undefined,
    async run(lab) {
      const id = lab.format.callId?.(1) as string
      const outcome = await lab.ask([{ calls: [callOf(lab.format, 1, { id }), callOf(lab.format, 2, { id })] }, done])
      if (outcome.error?.code === 'model.protocol' || readsError(outcome)) return undefined
      return firstOf(isDone(outcome), ranAs(outcome, 'add({"a":1}) add({"a":2})'))
    },
  },
  {
    name: 'odd id',
    promise: 'An id with other characters goes back to the provider that sent it.',
    applies: ({ oddId }) => oddId !== undefined,
    async run(lab) {
      const id = lab.format.oddId as string
      const outcome = await lab.ask([{ calls: [callOf(lab.format, 1, { id })] }, done])
      return firstOf(isDone(outcome), ranAs(outcome, 'add({"a":1})'))
    },
  },
]

/** Whether the model reads an error in place of a result. */
function readsError({ history, script }: Outcome): boolean {
  const parts = history.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
  return script.problems.length === 0 && parts.some((part) => part.type === 'tool-result' && part.isError === true)
}
