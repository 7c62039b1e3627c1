import { Agent, defineMiddleware } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { evaluate, score } from '../src/index.ts'
import { markdownReport, textReport } from '../src/report.ts'
import { alwaysModel } from './kit.ts'

const pay = { name: 'pay', description: 'Pays', jsonSchema: { type: 'object' }, execute: () => 'paid' }
const limit = defineMiddleware({ name: 'limit', tool: (ctx) => ctx.deny('Not today.') })

/** Half of the cases are denied. The model's answers contain markup. */
async function report() {
  const model = alwaysModel(({ messages }) =>
    String(messages[0]?.content).endsWith('1') && messages.length === 1
      ? { toolCalls: [{ name: 'pay' }] }
      : { text: 'See <b>@team</b> | ![x](http://example.test/x)\n\u001b[31m' },
  )
  return evaluate({
    agent: new Agent({ name: 'desk', model, tools: [pay] }).use(limit),
    cases: ['pay 1', 'pay 2'].map((input) => ({ id: input, input })),
    trials: 1,
    scorers: {
      allowed: score.notDecided(),
      text: ({ text }) => ({ score: 0, reason: text }),
      tokens: score.tokens(),
    },
    gates: { allowed: { min: 0.9 }, text: { min: 0.5 } },
  })
}

describe('textReport()', () => {
  it('names the verdict, the gates, and the weakest cases with the layer that decided', async () => {
    const lines = textReport(await report()).split('\n')
    expect(lines[0]).toBe('desk: 2 cases, 1 trials each: undecided')
    expect(lines[1]).toMatch(
      /^undecided {2}allowed {2}mean > 0.9 {2}0.5 \(0.0\d+ to 0.97\d\) {2}With 2 cases, this gate/,
    )
    expect(lines).toContainEqual(
      expect.stringMatching(/^ {2}pay 1 {2}0 {2}Decisions: "limit" denied pay\. {2}"limit" denied/),
    )
    expect(lines).toContainEqual(expect.stringMatching(/^ +tokens +value 22\.5$/))
  })

  it('shows no control characters of an answer', async () => {
    expect(textReport(await report())).not.toContain('\u001b')
  })
})

describe('markdownReport()', () => {
  it('has a row for each gate, and the weakest cases below', async () => {
    const text = markdownReport(await report())
    expect(text).toContain('### Evals of `desk`: undecided')
    expect(text).toContain('| **undecided** | `allowed` | mean > 0.9 |')
    expect(text).toContain(`| \`pay 1\` | 0 | Decisions&#58; &#34;limit&#34; denied pay. | \`"limit" denied pay\` |`)
  })

  it('shows markup of an answer as text', async () => {
    const text = markdownReport(await report())
    expect(text).not.toMatch(/@team|<b>|!\[/)
    expect(text).toContain('See &#60;b&#62;&#64;team')
  })
})
