import { Agent, createResolver, model, observe } from 'allium'

/** Environment variables by name. */
export type Env = Readonly<Record<string, string | undefined>>

export const first = 'openai/gpt-5-mini'
export const second = 'anthropic/claude-sonnet-4-6'

/**
 * Asks one provider, and another one where that fails. Keys come from `env`: `OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, and
 * with `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL` the servers are others.
 */
export function createSupportAgent(env: Env) {
  return (
    new Agent({ name: 'support', model: first, resolveModel: createResolver({ env }), instructions: 'Be brief.' })
      // Outside of the retry, so each model is tried three times before the next one is asked.
      .use(model.fallback({ models: [second] }))
      .use(model.retry({ attempts: 3, delay: 20, jitter: 0 }))
      .use(observe.usage())
  )
}
