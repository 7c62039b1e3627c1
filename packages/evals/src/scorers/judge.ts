import { textOf } from '@allium/core'
import type { EvalRun, Scorer } from '../run/run.ts'
import { type AnswerForm, type JudgeModelOptions, judgeAgent } from './judge-agent.ts'

interface Grade {
  readonly reason: string
  /** From 1 to 5. */
  readonly grade: number
}

/**
 * Asks a model to grade the answer by a rubric, with a reason: 1 to 5, as scores from 0 to 1.
 *
 * A judge that fails, times out or returns no grade makes the trial invalid. Judges are wrong at times, so compare yours with
 * your own labels: {@link calibrate}.
 *
 * @example
 * score.judge({ model: small, rubric: 'The answer names the invoice and the amount.', use: [retry()] })
 */
export function judge(options: JudgeModelOptions): Scorer {
  const ask = judgeAgent('judge', instructions, options, gradeForm)
  return async (run) => {
    const { answer, usage } = await ask({ ...questionOf(run), answer: run.text }, run)
    return { score: (answer.grade - 1) / 4, reason: answer.reason, usage }
  }
}

const instructions = `You grade the answer of an assistant by a rubric. First give the reason in one sentence, then the grade:
5 the answer keeps to the rubric, 4 with a small flaw, 3 in part, 2 hardly, 1 not at all.`

const gradeForm: AnswerForm<Grade> = {
  name: 'grade',
  jsonSchema: {
    type: 'object',
    properties: { reason: { type: 'string' }, grade: { type: 'integer', minimum: 1, maximum: 5 } },
    required: ['reason', 'grade'],
    additionalProperties: false,
  },
  read: ({ reason, grade }) =>
    Number.isInteger(grade) && (grade as number) >= 1 && (grade as number) <= 5
      ? { reason: String(reason ?? ''), grade: grade as number }
      : 'The judge gave no grade from 1 to 5.',
}

/** Returns the input of a run for a judge, with the expected answer if there is one. */
export function questionOf({ case: { input }, expected }: EvalRun): object {
  const messages = typeof input === 'string' ? input : [input].flat().map((one) => `${one.role}: ${textOf(one)}`)
  return { input: messages, ...(expected !== undefined && { expected }) }
}
