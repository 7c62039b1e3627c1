import { AlliumError, addUsage } from '@allium/core'
import type { Scorer } from '../run/run.ts'
import { questionOf } from './judge.ts'
import { type AnswerForm, type JudgeModelOptions, judgeAgent } from './judge-agent.ts'

interface Choice {
  readonly reason: string
  readonly better: 'first' | 'second' | 'equal'
}

/**
 * Asks a model whether the answer or that of the baseline is better: 1 for the answer, 0 for the baseline's, 0.5 for neither.
 *
 * It asks twice with the order swapped, because judges prefer a position. If the two differ, the score is 0.5. A gate of
 * `{ min: 0.45 }` shows that the answers did not become worse.
 *
 * @throws AlliumError `options.invalid` without an answer in the baseline; such a trial is invalid
 */
export function pairwise(options: JudgeModelOptions): Scorer {
  const ask = judgeAgent('pairwise-judge', instructions, options, choiceForm)
  return async (run) => {
    const { text, baseline } = run
    if (baseline === undefined || baseline.status === 'lost')
      throw new AlliumError(
        'options.invalid',
        'The baseline has no answer to compare with. Pass a baseline of this case.',
      )
    if (text === baseline.text) return { score: 0.5, reason: 'Both answers are the same.' }
    const question = questionOf(run)
    const [one, other] = await Promise.all([
      ask({ ...question, first: baseline.text, second: text }, run),
      ask({ ...question, first: text, second: baseline.text }, run),
    ])
    const points = pointsFor('second', one.answer) + pointsFor('first', other.answer)
    const usage = { ...one.usage }
    addUsage(usage, other.usage)
    const agrees = points !== 1 || one.answer.better === 'equal'
    const reason = agrees ? one.answer.reason : `The choice depends on the order: ${one.answer.reason}`
    return { score: points / 2, reason, usage }
  }
}

/** A clear win counts 1, anything else in between. */
function pointsFor(place: Choice['better'], { better }: Choice): number {
  if (better === 'equal') return 0.5
  return better === place ? 1 : 0
}

const instructions = `You compare two answers of an assistant by a rubric. First give the reason in one sentence, then the better one: "first",
"second", or "equal". Their order and length mean nothing.`

const choices = ['first', 'second', 'equal'] as const

const choiceForm: AnswerForm<Choice> = {
  name: 'choice',
  jsonSchema: {
    type: 'object',
    properties: { reason: { type: 'string' }, better: { type: 'string', enum: choices } },
    required: ['reason', 'better'],
    additionalProperties: false,
  },
  read: ({ reason, better }) => {
    const choice = choices.find((one) => one === better)
    return choice === undefined
      ? 'The judge chose neither "first", "second" nor "equal".'
      : { reason: String(reason ?? ''), better: choice }
  },
}
