import { type Layer, type LayerOrder, scopeNames } from '../middleware/middleware.ts'
import { compileOnion } from '../middleware/onion.ts'
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
}

export interface Inspection {
  agent: string
  /** In order of registration. */
  layers: InspectedLayer[]
  /** The names of the layers in each scope, outermost first. */
  scopes: Record<ScopeName, string[]>
  /** The allowed approvers: only the owner of the session, or everyone whom the rule `approvals.canApprove` allows. */
  approvers: 'owner' | 'rule'
}

export function inspectLayers(agent: string, layers: readonly Layer[], approvers: Inspection['approvers']): Inspection {
  const onion = compileOnion(layers)
  const scopes = Object.fromEntries(
    scopeNames.map((scope) => [scope, onion[scope].map(({ name }) => name)]),
  ) as Inspection['scopes']
  return { agent, layers: layers.map(inspectLayer), scopes, approvers }
}

function inspectLayer({ name, spec }: Layer): InspectedLayer {
  const {
    order = {},
    innermost = false,
    reenters = false,
    inherit = false,
    state = {},
    tools = [],
    provides = [],
    requires = [],
  } = spec
  return {
    name,
    scopes: scopeNames.filter((scope) => spec[scope] !== undefined),
    order,
    innermost,
    reenters,
    inherit,
    state: Object.keys(state),
    tools: tools.map((tool) => tool.name),
    provides: provides.map((capability) => capability.name),
    requires: requires.map((capability) => capability.name),
  }
}
