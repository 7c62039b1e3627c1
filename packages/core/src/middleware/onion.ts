import { AlliumError } from '../errors/allium-error.ts'
import type { Hook, Onion, ScopeName } from '../onion/hook.ts'
import type { ToolRegistry } from '../tool/registry.ts'
import type { AnyMiddleware, HookRun, Layer, LayerOrder } from './middleware.ts'

/** Returns the hooks of all layers by scope, outermost first: the agent's, then the run's, then the innermost ones. */
export function compileOnion(layers: readonly Layer[], ofRun: readonly Layer[] = []): Onion {
  const all = ofRun.length === 0 ? layers : [...layers, ...ofRun]
  return {
    agent: hooksOf('agent', layers),
    session: hooksOf('session', layers),
    turn: hooksOf('turn', all),
    model: inOrder('model', all),
    tool: inOrder('tool', all),
  }
}

/** Returns the onion with the turn, model and tool hooks wrapped by the layers that have `wrapHooks`. */
export function wrapOnion(onion: Onion, layers: readonly Layer[]): Onion {
  const wrappers = layers.filter(({ spec }) => spec.wrapHooks !== undefined)
  if (wrappers.length === 0) return onion
  const wrap = (scope: 'turn' | 'model' | 'tool') => wrapHooks(wrappers, scope, onion[scope])
  const inherited = wrappers.filter(({ spec }) => spec.inherit === true)
  const wrapInner = (inner: Onion) => wrapOnion(onion.wrapInner?.(inner) ?? inner, inherited)
  return { ...onion, turn: wrap('turn'), model: wrap('model'), tool: wrap('tool'), wrapInner }
}

/** Throws if a layer of a run has a field that layers of a run cannot have. */
export function checkRunLayers(layers: readonly Layer[], taken: ReadonlySet<string>): void {
  checkNames(layers, taken)
  for (const { name, spec } of layers) {
    const what = runMayNot.find((field) => spec[field] !== undefined)
    if (what !== undefined)
      throw new AlliumError(
        'layer.invalid',
        `The layer "${name}", given to one run, has "${what}"${what === 'state' ? ` (${Object.keys(spec.state ?? {}).join(', ')})` : ''}. Layers of a run hook turn, model and tool only; register it with agent.use().`,
        { details: { layer: name } },
      )
  }
}

/** Throws if a name is taken, or if two layers have the same name. */
export function checkNames(layers: readonly Layer[], taken: ReadonlySet<string>): void {
  const seen = new Set<string>()
  for (const { name } of layers) {
    if (seen.has(name) || taken.has(name))
      throw new AlliumError(
        'layer.duplicate',
        `Two layers are named "${name}". Give one of them another name; layers of a pack take { as: 'another-name' }.`,
        { details: { layer: name } },
      )
    seen.add(name)
  }
}

const runMayNot = ['agent', 'session', 'state', 'tools', 'provides'] as const

function inOrder(scope: 'model' | 'tool', layers: readonly Layer[]): Hook[] {
  const hooks = hooksOf(scope, layers)
  return [...hooks.filter((hook) => !isInnermost(hook)), ...hooks.filter(isInnermost)]
}

function hooksOf(scope: ScopeName, layers: readonly Layer[]): Hook[] {
  return layers.flatMap(({ name, spec, config, callSite: place }): Hook[] => {
    const hook = spec[scope]
    return hook === undefined
      ? []
      : [
          {
            name,
            run: hook.bind(spec) as Hook['run'],
            config,
            options: spec.options,
            reenters: spec.reenters === true,
            inherit: spec.inherit === true,
            innermost: spec.innermost === true,
            stores: storesSession(spec),
            callSite: place,
            ...(scope === 'turn' && { observesOnly: looksOnly(spec.order) }),
            ...(spec.guards !== undefined && { guards: spec.guards.bind(spec) }),
            ...(spec.admits !== undefined && { admits: spec.admits.bind(spec) }),
          },
        ]
  })
}

const lookers = new Set(['observes', 'traces', 'meters', 'limits'])

function looksOnly({ is = [], scopes = ['turn'] }: LayerOrder = {}): boolean {
  return scopes.includes('turn') && is.some((word) => lookers.has(word))
}

/** Whether the layer declares that it stores the session. */
export function storesSession({ session, order }: AnyMiddleware): boolean {
  return session !== undefined && order?.is?.includes('sessionStorage') === true
}

/** Puts the parent's inherited layers around a sub-agent's onion. Cached for each pair. @throws AlliumError `tool.invalid` */
export function inheritOnion(parent: Onion, child: Onion, tools: ToolRegistry): Onion {
  if (parent.wrapInner === undefined && ![...parent.model, ...parent.tool].some(isInherited)) return child
  const ofParent = joinedOnions.get(parent) ?? new WeakMap<Onion, Onion>()
  joinedOnions.set(parent, ofParent)
  let onion = ofParent.get(child)
  if (onion === undefined) {
    const { model, tool, ...own } = parent.wrapInner?.(child) ?? child
    onion = { ...own, model: joined(parent.model, model), tool: joined(parent.tool, tool) }
    tools.checkSeenBy(onion.tool)
    ofParent.set(child, onion)
  }
  return onion
}

/** By the parent's onion and the child's. */
const joinedOnions = new WeakMap<Onion, WeakMap<Onion, Onion>>()
const isInherited = ({ inherit }: Hook): boolean => inherit === true
const isInnermost = ({ innermost, isCore }: Hook): boolean => innermost === true || isCore === true

/** Joins the hooks. Innermost layers stay innermost, the parent's outside the child's. */
function joined(parent: readonly Hook[], child: readonly Hook[]): Hook[] {
  const inherited = parent.filter(isInherited).map((hook): Hook => ({ ...hook, levelsUp: (hook.levelsUp ?? 0) + 1 }))
  const outer = (hooks: readonly Hook[]) => hooks.filter((hook) => !isInnermost(hook))
  return [...outer(inherited), ...outer(child), ...inherited.filter(isInnermost), ...child.filter(isInnermost)]
}

const core: Hook = { name: 'core', isCore: true, config: undefined, reenters: false, run: (_ctx, next) => next() }

/** Wraps the hooks of all other layers, and adds a wrapped hook right around the core. */
function wrapHooks(wrappers: readonly Layer[], scope: ScopeName, hooks: readonly Hook[]): Hook[] {
  return (hooks.at(-1)?.isCore ? hooks : [...hooks, core]).map((hook) => {
    const layer = hook.isCore ? undefined : hook.name
    const others = wrappers.filter(({ name }) => name !== hook.name)
    const wrap = (run: HookRun, { spec }: Layer) => spec.wrapHooks?.({ ...hook, layer, scope, run }) ?? run
    return { ...hook, run: others.reduce(wrap, hook.run) }
  })
}
