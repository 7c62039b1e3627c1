import { type EvalReport, evaluate, readReport } from '@allium/evals'
import { openAnswers } from '@allium/evals/answers'
import { textReport } from '@allium/evals/report'
import { playedModel } from './played-model.ts'
import { createSupportAgent, type SupportOptions } from './support-agent.ts'
import { supportEval } from './support-eval.ts'

const file = (name: string) => new URL(`../evals/${name}`, import.meta.url).pathname
const baseline = await readReport(file('support.baseline.json'))

console.log('── As committed, with the recorded answers: no model is called\n')
const answers = await openAnswers(file('support.answers.jsonl'), { mode: 'replay' })
print(await evaluate({ ...(await supportEval(createSupportAgent({ model: playedModel }))), baseline, answers }))
const { used, stale, missing } = await answers.save()
console.log(`${used} recorded answers used, ${stale} unused, ${missing} missing\n`)

console.log('── The prompt has lost the rule "Refund only orders that were delivered"\n')
print(await run({ without: 'delivered' }))

console.log('── The policy for refunds was removed\n')
print(await run({ hasPolicy: false }))

/** Evaluates a changed agent. Its requests are other ones, so it asks the model. */
async function run(options: Omit<SupportOptions, 'model'>): Promise<EvalReport> {
  return evaluate({ ...(await supportEval(createSupportAgent({ model: playedModel, ...options }))), baseline })
}

function print(report: EvalReport): void {
  console.log(textReport(report, { name: 'support', baseline }))
}
