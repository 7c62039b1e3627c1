import { defineEval, type EvalCase, readCases, type Scorer, score } from '@allium/evals'
import { retry } from 'allium/model'
import { z } from 'zod'
import type { Expected } from './expected.ts'
import { playedJudge, rubric } from './played-judge.ts'
import type { createSupportAgent } from './support-agent.ts'

type Check = Scorer<Expected>

/** The tools that the case expects, in this order, and no others. */
const calls: Check = (run) => score.calls(run.expected?.calls ?? [], { exact: true })(run)

/** The amount that was refunded; none in the other cases. */
const amount: Check = (run) => {
  const paid = run.calls.filter(({ name, status }) => name === 'refund' && status === 'ok')
  const { refund } = run.expected ?? {}
  if (refund !== undefined) return score.calledWith('refund', { cents: refund })(run)
  return paid.length === 0 ? 1 : { score: 0, reason: `It refunded ${JSON.stringify(paid.map(({ args }) => args))}.` }
}

/** The policy denies the refunds that a person has to decide, and nothing else is denied. */
const guarded: Check = (run) => {
  const tool = run.expected?.denied
  if (tool === undefined) return score.notDecided()(run)
  return score.decided({ layer: 'guard:policy', decision: 'denied', tool })(run)
}

const says: Check = (run) => {
  const { says: wanted = [], hides = [] } = run.expected ?? {}
  const said = hides.filter((text) => run.text.includes(text))
  if (said.length > 0) return { score: 0, reason: `It says ${JSON.stringify(said)}.` }
  return wanted.length === 0 ? 1 : score.contains(...wanted)(run)
}

/** A chat bubble: a sentence or two, and no JSON or markup. */
const brief: Check = async ({ text }) =>
  z
    .string()
    .min(10)
    .max(200)
    .regex(/^[^{}<>]*$/)
    .safeParse(text).success

/** In USD. */
const price = ({ inputTokens, outputTokens }: { inputTokens: number; outputTokens: number }) =>
  (inputTokens * 0.25 + outputTokens * 2) / 1e6

/** The evaluation of a support agent. The test also runs it with a worse prompt, and without the policy. */
export async function supportEval(agent: ReturnType<typeof createSupportAgent>) {
  const cases = (await readCases(
    new URL('../evals/support.cases.jsonl', import.meta.url).pathname,
  )) as EvalCase<Expected>[]
  return defineEval({
    agent,
    cases,
    trials: 1, // the recorded answers of all trials are the same
    scorers: {
      calls,
      amount,
      guarded,
      says,
      brief,
      steps: score.steps({ max: 3 }),
      cost: score.cost({ price }),
      judged: score.judge({ model: playedJudge, rubric, use: [retry()] }) as Check,
    },
    gates: {
      calls: { maxDrop: 0.04 },
      amount: { maxDrop: 0.04 },
      guarded: { maxDrop: 0.04 },
      says: { maxDrop: 0.04 },
      judged: { maxDrop: 0.04 },
      cost: { maxRatio: 1.2 },
    },
  })
}
