import { Agent, guard, type Ledger, type ModelRef, model, when } from 'allium'
import { accountOf } from './books.ts'
import { dailyBudgets, Principal } from './principal.ts'

/** One agent for all tenants, each with its own room for a day. */
export function createChatAgent(answering: ModelRef, ledger: Ledger) {
  return new Agent({
    name: 'chat',
    model: answering,
    instructions: 'Answer in one sentence.',
    principal: Principal,
    settings: { maxOutputTokens: 100 }, // what a call may cost is reserved before it: bound it
  })
    .use(guard.rateLimit({ limit: 3, window: 'minute', per: 'user' }))
    .use(model.retry({ delay: 10 }))
    .use(budgetOf('starter', ledger))
    .use(budgetOf('team', ledger))
    .use(budgetOf('business', ledger))
}

export type ChatAgent = ReturnType<typeof createChatAgent>

/** The budget of the tenants that have a plan. */
function budgetOf<Plan extends Principal['plan']>(plan: Plan, ledger: Ledger) {
  const isPlan = ({ principal }: { principal?: unknown }) => Principal.parse(principal).plan === plan
  const budget = guard.budget({
    as: `budget:${plan}`,
    limit: dailyBudgets[plan],
    account: ({ principal, clock }) => accountOf(Principal.parse(principal).tenantId, clock.now()),
    ledger,
    prices: { 'played/*': { input: 1, output: 4 } }, // USD for a million tokens; real models have a public list
    onLimit: (ctx, { limit, spent }) =>
      ctx.block(`${plan}: $${spent.toFixed(5)} of $${limit} spent`, {
        reply: `Your team has used up today's ${plan} budget. It begins again at 00:00 UTC, or with a larger plan.`,
      }),
  })
  return when(isPlan, budget)
}
