import { lineOf } from '../errors/call-site.ts'
import { type Layer, type LayerOrder, scopeNames } from '../middleware/middleware.ts'
import { compileOnion } from '../middleware/onion.ts'
import { estimateInputTokens } from '../model/estimate.ts'
import type { ToolDef } from '../model/model.ts'
import type { ScopeName } from '../onion/hook.ts'

/** A layer in the result of `inspect()`. */
export interface InspectedLayer {
  name: string
  scopes: ScopeName[]
  order: LayerOrder
  innermost: boolean
  reenters: boolean
  inherit: boolean
  state: string[]
  tools: string[]
  provides: string[]
  requires: string[]
  /** The options that it declares. */
  options: Readonly<Record<string, unknown>>
  /** The line of its `.use()`, as in a stack trace, where the platform tells it. */
  place: string | undefined
}

export interface Inspection {
  agent: string
  /** In order of registration. */
  layers: InspectedLayer[]
  /** The names of the layers in each scope, outermost first. */
  scopes: Record<ScopeName, string[]>
  /**
   * The tools of the agent and its layers, as the model gets them unless a layer changes them. `tokens` estimates the definition, which
   * every model call sends.
   */
  tools: readonly (ToolDef & { tokens: number })[]
  /** The allowed approvers: only the owner of the session, or everyone whom the rule `approvals.canApprove` allows. */
  approvers: 'owner' | 'rule'
}

/** @param defs the tools of the agent and its layers */
export function inspectLayers(
  about: Omit<Inspection, 'layers' | 'scopes' | 'tools'>,
  defs: readonly ToolDef[],
  layers: readonly Layer[],
): Inspection {
  const onion = compileOnion(layers)
  const scopes = Object.fromEntries(scopeNames.map((scope) => [scope, namesOf(onion[scope])])) as Inspection['scopes']
  const tools = defs.map((tool) => ({ ...tool, tokens: estimateInputTokens({ messages: [], tools: [tool] }) }))
  return { ...about, layers: layers.map(inspectLayer), scopes, tools }
}

function namesOf(named: readonly { readonly name: string }[] = []): string[] {
  return named.map(({ name }) => name)
}

function inspectLayer({ name, spec, callSite }: Layer): InspectedLayer {
  return {
    name,
    scopes: scopeNames.filter((scope) => spec[scope] !== undefined),
    order: spec.order ?? {},
    innermost: spec.innermost === true,
    reenters: spec.reenters === true,
    inherit: spec.inherit === true,
    state: Object.keys(spec.state ?? {}),
    tools: namesOf(spec.tools),
    provides: namesOf(spec.provides),
    requires: namesOf(spec.requires),
    options: spec.options ?? {},
    place: lineOf(callSite)?.trim(),
  }
}
