import { Agent, type Middleware } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { evaluate } from '../src/index.ts'

const phone = (text: string) => text.replaceAll(/\d{3}-\d{4}/g, '***')
const call = { name: 'call', description: 'Calls', jsonSchema: { type: 'object' }, execute: () => 'Reached 555-1234.' }
const steps = [{ toolCalls: [{ name: 'call', args: { to: ['555-1234'] } }] }, 'I called 555-1234.']

describe('the option scrub of evaluate()', () => {
  it('replaces the texts of the report, and the scorers get them as they are', async () => {
    const denies: Middleware = { name: 'denies', tool: (ctx) => ctx.deny('555-1234 is blocked') }
    const agent = new Agent({ model: scriptedModel(steps), tools: [call as never] }).use(denies)
    const sees = ({ text }: { text: string }) => ({
      score: text.includes('555-1234') ? 1 : 0,
      reason: 'It has 555-1234.',
    })
    const fails = () => Promise.reject(new Error('No answer for 555-1234.'))
    const report = await evaluate({
      agent,
      cases: [{ input: 'Call' }],
      scorers: { sees, fails },
      trials: 1,
      scrub: phone,
    })
    expect(JSON.stringify(report)).not.toContain('555-1234')
    expect(report.cases[0]?.trials[0]).toMatchObject({
      text: 'I called ***.',
      calls: [{ name: 'call', args: { to: ['***'] }, status: 'denied' }],
      decisions: [{ layer: 'denies', reason: '*** is blocked' }],
      scores: { sees: { score: 1, reason: 'It has ***.' }, fails: { invalid: 'No answer for ***.' } },
    })
  })

  it('replaces the error of a run that failed', async () => {
    const agent = new Agent({ model: scriptedModel([new Error('The provider refused 555-1234.')]) })
    const report = await evaluate({
      agent,
      cases: [{ input: 'Call' }],
      scorers: { any: () => 1 },
      trials: 1,
      scrub: phone,
    })
    expect(report.cases[0]?.trials[0]).toMatchObject({ status: 'lost', reason: 'The provider refused ***.' })
  })

  it('takes only a function', async () => {
    const agent = new Agent({ model: scriptedModel(['ok']) })
    const wrong = evaluate({ agent, cases: [{ input: 'Hi' }], scorers: { any: () => 1 }, scrub: 'phone' as never })
    await expect(wrong).rejects.toMatchObject({ code: 'options.invalid', message: expect.stringContaining('scrub') })
  })
})
