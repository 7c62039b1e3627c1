import type { ToolContext, ToolFlow } from '@allium/core'
import type { Labels } from './labels.ts'

type Declared = Pick<ToolFlow<never>, 'untrusted' | 'private' | 'sends' | 'writes'>

/** What is not known is taken to do everything. */
export const unknown: Declared = { untrusted: true, sends: true, writes: true }

/** Whether a call would do what it may not do unasked: send under private and untrusted, write under untrusted. */
export interface Sink {
  readonly sends: boolean
  readonly writes: boolean
}

export function sinkOf({ sends, writes }: Declared, { untrusted, private: secret }: Labels): Sink | undefined {
  if (untrusted === undefined) return undefined
  const sink = { sends: sends === true && secret !== undefined, writes: writes === true }
  return sink.sends || sink.writes ? sink : undefined
}

/** Asks whose addresses are the principal's own. */
export type Own = (principal: unknown) => readonly string[]

/** Whether a call reaches the principal alone: each address that the tool names is one of theirs, to the letter. */
export async function isOwn(ctx: ToolContext, own: Own | undefined): Promise<boolean> {
  if (own === undefined) return false
  try {
    const [to, theirs] = [await ctx.recipients(), own(ctx.principal)]
    return isTexts(to) && isTexts(theirs) && to.every((address) => theirs.includes(address))
  } catch {
    return false
  }
}

/** A list of at least one text, and of nothing else. */
function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string' && one !== '')
}
