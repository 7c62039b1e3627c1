import type { ModelContext, SessionKey } from '@allium/core'
import type { PassageStore } from '@allium/store'

/** Where a person or an operator switches memory off. Without a store of passages it is always on. */
export type MemorySwitch = Pick<PassageStore, 'off'> | undefined

/** Whether memory is off for the person. Read it before each use, because other processes switch it. */
export async function isOff(
  memory: MemorySwitch,
  { tenant, owner }: Pick<SessionKey, 'tenant' | 'owner'>,
): Promise<boolean> {
  const { person, tenant: all } = (await memory?.off({ tenant, owner })) ?? {}
  return person !== undefined || all !== undefined
}

/** Why nothing was stored, for the model and for a person. */
export const offProblem = 'memory is switched off for this person'

/** Hides a tool from a model call, unless the call requires it. */
export function hideTool(ctx: ModelContext, name: string): void {
  const { tools } = ctx.request
  const left = tools.filter((tool) => tool.name !== name)
  const isForced = typeof ctx.toolChoice === 'object' ? ctx.toolChoice.name === name : false
  if (isForced || left.length === tools.length) return
  ctx.toolDefs = left
  if (left.length === 0 && ctx.toolChoice === 'required') ctx.toolChoice = 'auto'
}
