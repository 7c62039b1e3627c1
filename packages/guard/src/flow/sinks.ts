import type { ToolContext, ToolFlow } from '@allium/core'
import type { Labels } from './labels.ts'

type DeclaredFlow = Pick<ToolFlow<never>, 'untrusted' | 'private' | 'sends' | 'writes'>

/** What is not known is taken to do everything. */
export const unknownFlow: DeclaredFlow = { untrusted: true, sends: true, writes: true }

/** Whether a call would do what it may not do unasked: send under private and untrusted, write under untrusted. */
export interface Sink {
  readonly sends: boolean
  readonly writes: boolean
}

export function sinkOf({ sends, writes }: DeclaredFlow, { untrusted, private: secret }: Labels): Sink | undefined {
  if (untrusted === undefined) return undefined
  const sink = { sends: sends === true && secret !== undefined, writes: writes === true }
  return sink.sends || sink.writes ? sink : undefined
}

/** Asks whose addresses are the principal's own. */
export type ResolveAddresses = (principal: unknown) => readonly string[]

/** Whether a call reaches the principal alone: each address that the tool names is one of theirs, to the letter. */
export async function reachesOnlyPrincipal(
  ctx: ToolContext,
  resolveAddresses: ResolveAddresses | undefined,
): Promise<boolean> {
  if (resolveAddresses === undefined) return false
  try {
    const [recipients, ownAddresses] = [await ctx.recipients(), resolveAddresses(ctx.principal)]
    return (
      isStringList(recipients) &&
      isStringList(ownAddresses) &&
      recipients.every((address) => ownAddresses.includes(address))
    )
  } catch {
    return false
  }
}

/** A list of at least one text, and of nothing else. */
function isStringList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string' && one !== '')
}
