import type { RegisteredPrincipal, ToolContext, ToolFlow } from '@allium/core'
import { recipientsOf } from '@allium/core/context'
import type { Labels } from './labels.ts'

type DeclaredFlow = Pick<ToolFlow<never>, 'untrusted' | 'private' | 'sends' | 'writes'>

/** An unknown tool is assumed to do everything. */
export const unknownFlow: DeclaredFlow = { untrusted: true, sends: true, writes: true }

/** Whether a call needs approval: sending with private and untrusted text, or writing with untrusted text. */
export interface Sink {
  readonly sends: boolean
  readonly writes: boolean
}

export function sinkOf({ sends, writes }: DeclaredFlow, { untrusted, private: secret }: Labels): Sink | undefined {
  if (untrusted === undefined) return undefined
  const sink = { sends: sends === true && secret !== undefined, writes: writes === true }
  return sink.sends || sink.writes ? sink : undefined
}

/** Returns the principal's own addresses. */
export type ResolveAddresses = (principal: RegisteredPrincipal) => readonly string[]

/** Whether a call reaches only the principal: each address named by the tool exactly matches one of theirs. */
export async function reachesOnlyPrincipal(
  ctx: ToolContext,
  resolveAddresses: ResolveAddresses | undefined,
): Promise<boolean> {
  if (resolveAddresses === undefined) return false
  try {
    const [recipients, ownAddresses] = [await recipientsOf(ctx), resolveAddresses(ctx.principal)]
    return (
      isStringList(recipients) &&
      isStringList(ownAddresses) &&
      recipients.every((address) => ownAddresses.includes(address))
    )
  } catch {
    return false
  }
}

/** Whether a value is a non-empty list of non-empty strings. */
function isStringList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string' && one !== '')
}
