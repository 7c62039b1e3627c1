import { Agent, type Clock } from '@allium/core'
import type { AgentStore } from '@allium/store'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { type Workflow, type WorkflowContext, workflow } from '../../../src/workflow.ts'
import { logger } from '../world.ts'
import type { Part, Plan } from './plans.ts'

/** Where the effects of a workflow happen. */
export interface Effects {
  /** @param key the same in each attempt and process @param id the recorded step */
  effect(key: string, id: string): unknown
}

interface Build extends Effects {
  readonly plan: Plan
  readonly version: string
  readonly store: AgentStore
  readonly clock: Clock
}

/** A workflow that returns the keys of its effects, in the order of its code. */
export function workflowOf({ plan, version, store, clock, effect }: Build): Workflow<undefined, string[]> {
  return workflow({
    ...{ name: 'random', version, store, clock, logger },
    async run(ctx) {
      const done: string[] = []
      await new Code(ctx, { effect }, done).run(plan)
      return done
    },
  })
}

class Code {
  readonly #ctx: WorkflowContext
  readonly #effects: Effects
  readonly #done: string[]
  #approved = true

  constructor(ctx: WorkflowContext, effects: Effects, done: string[]) {
    this.#ctx = ctx
    this.#effects = effects
    this.#done = done
  }

  async run(plan: Plan): Promise<void> {
    for (const part of plan) await this.#part(part)
  }

  async #part(part: Part): Promise<unknown> {
    const ctx = this.#ctx
    if (part.do === 'step') return this.#done.push(await this.#step(part))
    if (part.do === 'agent')
      return this.#done.push((await ctx.agent(this.#helper(part), 'Look.', { name: part.name })).text)
    if (part.do === 'approval') {
      const { approved } = await ctx.approval(part.name)
      this.#approved = approved
      return undefined
    }
    if (part.do === 'sleep') return ctx.sleep(part.ms)
    if (part.do === 'loop') {
      for (let round = 0; round < part.times; round++) await this.run(part.body)
      return undefined
    }
    if (part.do === 'all') return ctx.all(part.branches.map((branch) => this.run(branch)))
    return this.run((part.on === 'count' ? this.#done.length % 2 === 0 : this.#approved) ? part.yes : part.no)
  }

  #step({ name, fails }: Extract<Part, { do: 'step' }>): Promise<string> {
    const work = async ({ attempt, idempotencyKey }: { attempt: number; idempotencyKey: string }) => {
      if (attempt <= fails) throw new Error('busy')
      await this.#effects.effect(idempotencyKey, `:tool:${idempotencyKey.replace(/^[^:]*:/, '')}:${attempt}`)
      return idempotencyKey
    }
    return this.#ctx.step(name, work, { retry: { attempts: 3, delay: 10 } })
  }

  /** An agent that answers with the key of what its tool did. */
  #helper({ name, asks }: Extract<Part, { do: 'agent' }>): Agent {
    const script: ScriptedStep = ({ messages }) => {
      const last = messages.at(-1)
      if (last?.role !== 'tool') return { toolCalls: [{ name: 'look', callId: 'look', args: {} }] }
      const [result] = last.content as { content: string }[]
      return result?.content ?? ''
    }
    const look = {
      ...{ name: 'look', description: 'looks', jsonSchema: {}, requireApproval: asks },
      execute: async (_: unknown, ctx: { stepId: string }) => {
        await this.#effects.effect(ctx.stepId, ctx.stepId)
        return ctx.stepId
      },
    }
    const agent = new Agent({ name, model: scriptedModel([script, script]), tools: [look as never], logger })
    return agent as unknown as Agent
  }
}
