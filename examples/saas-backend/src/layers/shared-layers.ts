import * as guard from 'allium/guard'
import * as memory from 'allium/memory'
import * as model from 'allium/model'
import * as observe from 'allium/observe'
import { Principal } from '../principal.ts'
import { profile } from '../profile.ts'
import type { Store } from '../store.ts'
import { tenantPlan } from './tenant-plan.ts'

const plan = (ctx: { principal?: unknown }) => Principal.parse(ctx.principal).plan

/**
 * The layers of all agents, the outermost first. A session that is handed off keeps its state, its placeholders and its budget, so each
 * agent needs them.
 */
export function sharedLayers(store: Store, onion: observe.Onion) {
  return [
    onion,
    guard.pii({ types: ['email', 'card', 'iban'] }),
    guard.rateLimit({
      limit: (ctx) => plan(ctx).turnsAMinute,
      window: 'minute',
      per: 'tenant',
      onLimit: (ctx, { retryAfter }) =>
        ctx.block('You have sent too many messages in the last minute. Wait a moment and try again.', {
          code: 'guard.rate_limit',
          retryAfter,
        }),
    }),
    observe.audit({ sink: store.audit }),
    tenantPlan(),
    model.retry({ attempts: 3 }),
    guard.budget({
      limit: (ctx) => plan(ctx).dailyUsd,
      per: 'tenant',
      window: 'day',
      onLimit: (ctx) =>
        ctx.block(
          `${Principal.parse(ctx.principal).tenant} has used up its budget for today. It resets at midnight UTC. Admins can see the usage on the admin page.`,
          { code: 'guard.budget' },
        ),
    }),
    observe.usage({ record: true }),
    memory.recall(),
    memory.working(profile),
  ] as const
}
