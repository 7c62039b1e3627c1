import { Agent, type Ledger, type ModelRef } from 'allium'
import * as guard from 'allium/guard'
import * as model from 'allium/model'
import { accountOf } from './books.ts'
import { dailyBudgets, Principal } from './principal.ts'

/** One agent for all tenants, each with its own daily budget. */
export function createChatAgent(answering: ModelRef, ledger: Ledger) {
  return new Agent({
    name: 'chat',
    model: answering,
    instructions: 'Answer in one sentence.',
    principal: Principal,
    settings: { maxOutputTokens: 100 }, // the maximum cost of a call is reserved before it, so limit it
  })
    .use(guard.rateLimit({ limit: 3, window: 'minute', per: 'user' }))
    .use(model.retry({ delay: 10 }))
    .use(planBudget(ledger))
}

export type ChatAgent = ReturnType<typeof createChatAgent>

/** Limits each tenant to the budget of its plan. */
function planBudget(ledger: Ledger) {
  return guard.budget({
    limit: ({ principal }) => dailyBudgets[Principal.parse(principal).plan],
    per: ({ principal, clock }) => accountOf(Principal.parse(principal).tenantId, clock.now()),
    ledger,
    prices: { 'played/*': { input: 1, output: 4 } }, // USD per million tokens; real models are in a public price list
    onLimit(ctx, { limit, spent }) {
      const { plan } = Principal.parse(ctx.principal)
      ctx.block(`${plan}: $${spent.toFixed(5)} of $${limit} spent`, {
        reply: `Your team has used up today's ${plan} budget. It resets at 00:00 UTC. A larger plan has a larger budget.`,
      })
    },
  })
}
