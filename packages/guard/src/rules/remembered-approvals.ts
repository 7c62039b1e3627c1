import type { Identity, ToolContext } from '@allium/core'
import { seal } from '@allium/core/context'
import { identityOf } from '@allium/core/internal'

type Ctx = ToolContext<Record<string, string[]>>

/** Returns the state of a layer that keeps approvals for identical calls in the rest of a session. */
export function rememberedState(layer: string) {
  return {
    [keyOf(layer)]: { default: [], reducer: (entries: string[], more: string[]) => [...entries, ...more] },
  }
}

/** Returns the approver of an earlier identical call, if there is one. */
export async function findRemembered(ctx: Ctx, layer: string): Promise<{ by?: Identity } | undefined> {
  for (const entry of (ctx.state[keyOf(layer)] ?? []) as readonly string[]) {
    const by = identityFrom(entry)
    if ((await sealedApproval(ctx, layer, by)) === entry) return by === undefined ? {} : { by }
  }
  return undefined
}

export async function rememberApproval(ctx: Ctx, layer: string, by: Identity | undefined): Promise<void> {
  ctx.state[keyOf(layer)] = [await sealedApproval(ctx, layer, by)]
}

function keyOf(layer: string): string {
  return `${layer}:remembered`
}

/** Returns the stored form of an approval: a seal over the call and its approver, followed by the approver. */
async function sealedApproval(ctx: Ctx, layer: string, by: Identity | undefined): Promise<string> {
  const identities = by === undefined || Object.keys(by).length === 0 ? [] : [by]
  return [
    await seal(ctx, [layer, ctx.tool.name, ctx.args, ...identities]),
    ...identities.map((one) => JSON.stringify(one)),
  ].join(' ')
}

function identityFrom(entry: string): Identity | undefined {
  const at = entry.indexOf(' ')
  try {
    return at < 0 ? undefined : identityOf(JSON.parse(entry.slice(at + 1)))
  } catch {
    return undefined
  }
}
