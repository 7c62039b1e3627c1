import type { TurnContext } from '@allium/core'

/**
 * The secret of a session to which nobody gave one. It is drawn in the session's first turn and kept in its state, so that a run
 * which another process goes on with has the same.
 */
export function generatedSecret(layer: string) {
  const key = `${layer}:secret`
  return {
    state: { [key]: { default: '' } },
    /** Before the turn goes on: sub-agents and calls at the same time have one. */
    async ensure(ctx: TurnContext<Record<string, unknown>>): Promise<void> {
      if (ctx.state[key] === '')
        ctx.state[key] = await ctx.once('secret', () => crypto.randomUUID(), { per: 'attempt' })
    },
    get({ state }: Pick<TurnContext<Record<string, unknown>>, 'state'>): string {
      return state[key] as string
    },
  }
}
