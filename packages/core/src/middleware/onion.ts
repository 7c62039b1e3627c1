import type { Hook, Onion, ScopeName } from '../compose/passage.ts'
import { AlliumError } from '../errors/allium-error.ts'
import type { Layer } from './middleware.ts'

/** The hooks of all layers by scope, outermost first: the agent's, then the run's, then the innermost ones. */
export function compileOnion(layers: readonly Layer[], ofRun: readonly Layer[] = []): Onion {
  const all = [...layers, ...ofRun]
  const wrap = (scope: ScopeName, hooks: Hook[]) => wrapHooks(all, scope, hooks)
  return {
    agent: wrap('agent', hooksOf('agent', layers)),
    session: wrap('session', hooksOf('session', layers)),
    turn: wrap('turn', hooksOf('turn', all)),
    model: wrap('model', inOrder('model', all)),
    tool: wrap('tool', inOrder('tool', all)),
  }
}

/** Throws unless the layers of a run keep to what a run may have. */
export function checkRunLayers(layers: readonly Layer[], agents: readonly Layer[]): void {
  checkNames([...agents, ...layers])
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

/** Throws where two layers share a name. */
export function checkNames(layers: readonly Layer[]): void {
  const seen = new Set<string>()
  for (const { name } of layers) {
    if (seen.has(name))
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
  const innermost = layers.filter(({ spec }) => spec.innermost === true)
  return innermost.length === 0
    ? hooksOf(scope, layers)
    : [
        ...hooksOf(
          scope,
          layers.filter((layer) => !innermost.includes(layer)),
        ),
        ...hooksOf(scope, innermost),
      ]
}

function hooksOf(scope: ScopeName, layers: readonly Layer[]): Hook[] {
  return layers.flatMap(({ name, spec, config }): Hook[] => {
    const hook = spec[scope]
    return hook === undefined
      ? []
      : [{ name, run: hook.bind(spec) as Hook['run'], config, reenters: spec.reenters === true }]
  })
}

/** Lets the layers that wrap hooks wrap those of the others, and a place right around the core. */
function wrapHooks(layers: readonly Layer[], scope: ScopeName, hooks: Hook[]): Hook[] {
  const wrappers = layers.filter(({ spec }) => spec.wrapHooks !== undefined)
  if (wrappers.length === 0) return hooks
  const around: Hook = { name: 'core', run: (_ctx, next) => next(), config: undefined, reenters: false }
  return [...hooks, around].map((hook) => {
    const layer = hook === around ? undefined : hook.name
    const others = wrappers.filter(({ name }) => name !== hook.name)
    const run = others.reduce((run, { spec }) => spec.wrapHooks?.({ layer, scope, run }) ?? run, hook.run)
    return { ...hook, run }
  })
}
