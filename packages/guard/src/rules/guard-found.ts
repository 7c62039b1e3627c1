import type { TurnView } from '@allium/core'

/** The texts that a guard checks. */
export type GuardTarget = 'input' | 'output' | 'toolResults'

/** A guard found something. The event does not contain the finding. */
export interface GuardFound {
  type: 'guard:found'
  layer: string
  where: GuardTarget
  /** The type of the detector. */
  found: string
  action: string
}

declare module '@allium/core' {
  interface AgentEvents {
    'guard:found': GuardFound
  }
}

export function emitFound(ctx: Pick<TurnView, 'emit'>, found: Omit<GuardFound, 'type'>): void {
  ctx.emit({ type: 'guard:found', ...found })
}

export const targetNames: Record<GuardTarget, string> = {
  input: 'input',
  output: 'answer',
  toolResults: 'result of a tool',
}
