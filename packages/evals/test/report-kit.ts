import type { CaseReport, EvalDecision, EvalReport, TrialReport } from '../src/index.ts'
import { evaluate, score } from '../src/index.ts'
import { answering } from './kit.ts'

/** Text that would change a page, a comment, a terminal or XML if a report did not escape it. */
export const hostile = `</style></div><script>alert(1)</script><img src=x onerror=alert(2)> & "q" 'a' \`c\` | [x](http://example.test) @team ]]> \u001b[31m \u202e\u0000 \ud800 \u2028end`

interface Wanted {
  cases?: number
  /** How many cases are denied by a layer and score 0. */
  lost?: number
  /** How many cases have no score. */
  invalid?: number
  text?: string
  gates?: Parameters<typeof evaluate>[0]['gates']
  baseline?: EvalReport
}

/** A report of real gates over given trials: each case has one trial. */
export async function reportOf({ cases = 60, lost = 0, invalid = 0, text = 'Yes.', gates, baseline }: Wanted = {}) {
  const report = await evaluate({
    agent: answering((input) => `${text}${Number(input.split(' ').at(-1)) <= lost ? ' (lost)' : ''}`, { name: 'desk' }),
    cases: Array.from({ length: cases }, (_, at) => ({
      id: `order ${at + 1}`,
      input: `order ${at + 1}`,
      tags: ['orders'],
    })),
    trials: 1,
    scorers: {
      right: (run) => {
        if (run.text.endsWith('(lost)')) return { score: 0, reason: `It was refused. ${text}` }
        if (Number(run.case.id.split(' ').at(-1)) > cases - invalid) throw new Error('503 busy')
        return 1
      },
      tokens: score.tokens(),
    },
    gates: gates ?? { right: { maxDrop: 0.1 } },
    baseline,
  })
  return { ...report, cases: report.cases.map(denied) }
}

/** A case with the score 0 was denied by a layer. */
function denied(one: CaseReport): CaseReport {
  const decision: EvalDecision = { layer: 'limit', scope: 'tool', decision: 'denied', tool: 'refund' }
  const trial = (before: TrialReport): TrialReport =>
    before.text.endsWith('(lost)') ? { ...before, decisions: [decision] } : before
  return { ...one, trials: one.trials.map(trial) }
}

/** The report of an agent that got worse in 24 of 60 cases, with its baseline. */
export async function worse(text?: string) {
  const baseline = await reportOf()
  return { baseline, report: await reportOf({ lost: 24, baseline, ...(text !== undefined && { text }) }) }
}
