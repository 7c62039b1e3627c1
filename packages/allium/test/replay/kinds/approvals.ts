import * as guard from '../../../src/guard.ts'
import { Agent, delegate, type Session } from '../../../src/index.ts'
import { type ScriptedStep, scriptedModel } from '../../../src/testing.ts'
import * as tools from '../../../src/tools.ts'
import { type Kind, tool } from '../world.ts'

const asks: ScriptedStep = { toolCalls: [{ name: 'pay', callId: 'c1', args: { amount: 5 } }] }
const asksTwice: ScriptedStep = {
  toolCalls: [
    { name: 'pay', callId: 'c1', args: { amount: 5 } },
    { name: 'pay', callId: 'c2', args: { amount: 7 } },
  ],
}
const needsApproval = () => ({ options: { tools: [tool('pay', { requireApproval: true })] } })
const layerAsks = () => ({ options: { tools: [tool('pay')] }, layers: [guard.approve({ tools: ['pay'] })] })

/** Decides the pending calls of the session. */
const decide = (decisions: object) => async (session: Session) => {
  await session.run('pay')
  const tokens = Object.fromEntries(session.pending.map(({ callId, token }) => [callId, token]))
  const decided = Object.entries(decisions).map(([callId, one]) => [callId, { ...one, token: tokens[callId] }])
  await session.resume(Object.fromEntries(decided))
}

const childSteps: ScriptedStep[] = [{ toolCalls: [{ name: 'pay', callId: 'p1', args: { amount: 1 } }] }, 'paid']
const child = (steps: readonly ScriptedStep[] = childSteps) =>
  new Agent({ name: 'child', model: scriptedModel(steps), tools: [tool('pay', { requireApproval: true })] })
const delegates: ScriptedStep = { toolCalls: [{ name: 'child', callId: 'c1', args: { task: 'pay it' } }] }

export const approvals: readonly Kind[] = [
  { title: 'a call that waits for an approval', steps: [asks], parts: needsApproval },
  {
    title: 'an approved call',
    steps: [asks, 'done'],
    parts: needsApproval,
    play: decide({ c1: { approve: true } }),
  },
  { title: 'a denied call', steps: [asks, 'done'], parts: needsApproval, play: decide({ c1: { deny: 'too much' } }) },
  {
    title: 'a call with edited arguments',
    steps: [asks, 'done'],
    parts: needsApproval,
    play: decide({ c1: { args: { amount: 4 } } }),
  },
  {
    title: 'one of two calls approved',
    steps: [asksTwice, 'done'],
    parts: needsApproval,
    play: decide({ c1: { approve: true } }),
  },
  {
    title: 'two calls, one approved and one denied',
    steps: [asksTwice, 'done'],
    parts: needsApproval,
    play: decide({ c1: { approve: true }, c2: { deny: 'no' } }),
  },
  { title: 'a layer that asks', steps: [asks, 'done'], parts: layerAsks, play: decide({ c1: { approve: true } }) },
  { title: 'a layer that asks, and a denial', steps: [asks, 'done'], parts: layerAsks, play: decide({ c1: { deny: 'no' } }) },
  {
    title: 'a new turn in place of a decision',
    steps: [asks, 'never mind'],
    parts: needsApproval,
    async play(session) {
      await session.run('pay')
      await session.run('stop')
    },
  },
  {
    title: 'a signed approval',
    steps: [asks, 'done'],
    parts: () => ({
      options: { ...needsApproval().options, approvals: { secret: 'a secret of thirty-two characters!' } },
    }),
    play: decide({ c1: { approve: true } }),
  },
  {
    title: 'an approval in a sub-agent',
    steps: [delegates, 'all paid'],
    parts: () => ({ layers: [tools.agent({ agent: child(), description: 'Pays' })] }),
    play: decide({ 'c1/p1': { approve: true } }),
  },
  {
    title: 'an approval in a sub-agent of an own tool',
    steps: [delegates, 'all paid'],
    parts() {
      const payer = child()
      const execute = async ({ task }: { task: string }, ctx: never) => (await delegate(ctx, payer, task))?.text
      return { options: { tools: [tool('child', { execute })] } }
    },
    play: decide({ 'c1/p1': { approve: true } }),
    notes: ['sub-agent of tool child not entered'],
  },
  {
    title: 'a call that the client runs',
    steps: [{ toolCalls: [{ name: 'locate', callId: 'c1', args: {} }] }, 'in Bern'],
    async play(session) {
      const clientTools = [{ name: 'locate', description: 'Locates', jsonSchema: { type: 'object' } }]
      await session.run('where', { clientTools })
      await session.resume({ c1: { result: 'Bern' } })
    },
  },
]
