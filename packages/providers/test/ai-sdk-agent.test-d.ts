import { Agent, type Model } from '@allium/core'
import { toAiSdkAgent } from '@allium/providers/agent'
import { fromAiSdkMiddleware } from '@allium/providers/middleware'
import * as ai7 from 'ai'
import * as ai6 from 'ai-v6'
import { z } from 'zod'

declare const model: Model

// An agent with state, context and principal goes into both versions without a type argument or a cast.
const agent = new Agent({ model, context: z.object({ a: z.string() }), principal: z.object({ userId: z.string() }) })
  .use({ name: 'counts', state: { count: { default: 0 } } })
  .use(fromAiSdkMiddleware(ai6.extractReasoningMiddleware({ tagName: 'think' })))
  .use(fromAiSdkMiddleware(ai7.defaultSettingsMiddleware({ settings: { temperature: 0 } }), { as: 'settings' }))
const session = agent.session({ context: { a: '' }, principal: { userId: 'ann' } })
ai6.createAgentUIStreamResponse({ agent: toAiSdkAgent(agent, { session }), uiMessages: [] })
ai7.createAgentUIStreamResponse({ agent: toAiSdkAgent(agent, { session }), uiMessages: [] })

// @ts-expect-error what is no middleware
fromAiSdkMiddleware({ wrapStream: 'no' })
// @ts-expect-error a session is needed
toAiSdkAgent(agent, {})
