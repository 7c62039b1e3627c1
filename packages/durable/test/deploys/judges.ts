import { Agent, type Middleware } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import type { Effect, LayerSetup } from './layers.ts'

interface OnceContext {
  once(key: string, fn: (inner: object) => unknown): unknown
}

/** Runs an agent in `ctx.once()`. Its tool has an effect, which is recorded before the agent's answer. */
async function judge(ctx: OnceContext, { onEffect, onAsk }: LayerSetup, name: Effect, suffix = '') {
  const rate = { name: 'rate', description: 'rates', jsonSchema: {}, execute: async () => void (await onEffect(name)) }
  const script: ScriptedStep = ({ messages }) =>
    messages.some(({ role }) => role === 'tool') ? 'Fine.' : { toolCalls: [{ name: 'rate', callId: 'rate', args: {} }] }
  const agent = new Agent({ name: 'judge', model: scriptedModel([script, script]), tools: [rate as never] })
  onAsk?.(name)
  await ctx.once(`${name}${suffix}`, async (inner) => (await agent.run('Judge.', inner)).text)
}

/** Judges each input before the loop, also that of the sub-agent. */
export const judgesInputs =
  (suffix?: string) =>
  (setup: LayerSetup): Middleware & { name: string } => ({
    name: 'judge',
    inherit: true,
    turn(ctx, next) {
      ctx.onInput(async ({ content }, { ctx }) => {
        await judge(ctx, setup, `judge ${JSON.stringify(content).replace(/\W|text|type/g, '')}`, suffix)
        return undefined
      })
      return next()
    },
  })

/** Judges beside the loop. */
export const judgesBeside =
  (suffix?: string) =>
  (setup: LayerSetup): Middleware & { name: string } => ({
    name: 'beside',
    async turn(ctx, next) {
      const judged = judge(ctx, setup, 'beside', suffix)
      await Promise.all([next(), judged])
    },
  })
