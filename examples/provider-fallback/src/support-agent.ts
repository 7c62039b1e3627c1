import { Agent } from 'allium'
import { createResolver } from 'allium/ai-sdk'
import * as model from 'allium/model'
import * as observe from 'allium/observe'

/** Environment variables by name. */
export type Env = Readonly<Record<string, string | undefined>>

export const first = 'openai/gpt-5-mini'
export const second = 'anthropic/claude-sonnet-4-6'

/**
 * An agent with a fallback to another provider. Keys come from `env`: `OPENAI_API_KEY`, `ANTHROPIC_API_KEY`. With
 * `OPENAI_BASE_URL` and `ANTHROPIC_BASE_URL`, it calls other servers.
 */
export function createSupportAgent(env: Env) {
  return (
    new Agent({ name: 'support', model: first, resolveModel: createResolver({ env }), instructions: 'Be brief.' })
      // Outside the retry, so each model gets three attempts before the fallback.
      .use(model.fallback({ models: [second] }))
      .use(model.retry({ attempts: 3, delay: 20, jitter: 0 }))
      .use(observe.usage())
  )
}
