import { Agent, delegate, type ToolExecution } from '@allium/core'
import { type Ledger, memoryLedger } from '@allium/store'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { budget } from '../src/index.ts'

const ask = { toolCalls: [{ name: 'research', args: { task: 'find' } }] }

/** A chief with a budget, whose researcher has none of its own. */
function chief(limit: number, inside: readonly ScriptedStep[], ledger: Ledger = memoryLedger()) {
  const researcher = new Agent({ name: 'researcher', model: scriptedModel(inside) })
  const research = {
    name: 'research',
    description: 'Finds out',
    jsonSchema: { type: 'object' },
    execute: async ({ task }: { task: string }, ctx: ToolExecution) =>
      (await delegate(ctx, researcher, task))?.text ?? '',
  }
  return new Agent({ model: scriptedModel([ask, 'Done.']), tools: [research as never] }).use(
    budget({ limit, unit: 'tokens', per: 'turn', ledger, estimate: () => ({ inputTokens: 10, outputTokens: 5 }) }),
  )
}

describe('guard.budget around a sub-agent', () => {
  it('counts each call inside, exactly', async () => {
    const { state, usage } = await chief(1000, ['Found.']).run('go')
    expect([state['guard:budget:spent'], usage.calls]).toEqual([45, 3])
  })

  it('ends the whole run where a call inside has no room', async () => {
    const result = await chief(29, ['Found.']).run('go')
    expect([result.status, result.state['guard:budget:spent']]).toEqual(['blocked', 15])
  })

  it('counts on over a suspension: what is per turn is per turn, not per run', async () => {
    const pay = { name: 'pay', description: 'Pays', jsonSchema: {}, requireApproval: true, execute: () => 'paid' }
    const model = scriptedModel([{ toolCalls: [{ name: 'pay', callId: 'c1' }] }, 'never'])
    const limited = budget({
      limit: 29,
      unit: 'tokens',
      per: 'turn',
      estimate: () => ({ inputTokens: 10, outputTokens: 5 }),
    })
    const session = new Agent({ model, tools: [pay] }).use(limited).session()
    await session.run('pay')
    expect(await session.resume({ c1: { approve: true } })).toMatchObject({ status: 'blocked' })
    expect(model.calls).toBe(1)
  })
})
