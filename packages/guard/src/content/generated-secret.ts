import type { TurnView } from '@allium/core'

/**
 * A session secret for layers that were given none. It is generated in the session's first turn and stored in its state, so that
 * another process that continues a run uses the same secret.
 */
export function generatedSecret(layer: string) {
  const key = `${layer}:secret`
  return {
    state: { [key]: { default: '' } },
    /** Runs before the turn continues, so that sub-agents and concurrent calls share the secret. */
    async ensure(ctx: TurnView<Record<string, unknown>>): Promise<void> {
      if (ctx.state[key] === '')
        ctx.state[key] = await ctx.once('secret', () => crypto.randomUUID(), { per: 'attempt' })
    },
    get({ state }: Pick<TurnView<Record<string, unknown>>, 'state'>): string {
      return state[key] as string
    },
  }
}
