import { AlliumError } from '../errors/allium-error.ts'
import type { CallSite } from '../errors/call-site.ts'
import type { DisplayContext, DisplayTransform, Layer, Middleware, Usable } from '../middleware/middleware.ts'
import { toLayers } from '../middleware/normalize.ts'
import { checkNames, checkRunLayers, compileOnion, wrapOnion } from '../middleware/onion.ts'
import { checkOrder, type Finding, uncheckedOrders } from '../middleware/order.ts'
import type { Onion } from '../onion/hook.ts'
import type { SessionKey } from '../ports/session-store.ts'
import { declareFields, type StateField } from '../state/field.ts'
import { isRunByProvider, notAdmitted, unseenCalls } from '../tool/tool-guard.ts'
import type { AgentScope } from './scope/agent-scope.ts'

const none: readonly Usable[] = []

export type OrderCheck = 'error' | 'warn' | 'off'

/** The layers of an agent, in order of registration. */
export class LayerStack {
  readonly layers: Layer[] = []
  readonly #scope: AgentScope
  readonly #names = new Set<string>()
  /** Compiled onions by the run's layers, and by the layer inside them. */
  readonly #ofRuns = new WeakMap<readonly Usable[], WeakMap<object, Onion>>()

  constructor(scope: AgentScope) {
    this.#scope = scope
  }

  /** Adds layers with their state fields and tools, all or none. */
  add(first: unknown, config: unknown, callSite?: CallSite): void {
    const made = toLayers(first, config, this.layers.length)
    const added = callSite === undefined ? made : made.map((layer): Layer => ({ ...layer, callSite }))
    checkNames(added, this.#names)
    this.#declare(added)
    this.layers.push(...added)
    for (const { name } of added) this.#names.add(name)
  }

  /** Combines the display transforms of all layers, inner ones first, as in the stream. */
  async displayTransform(sessionKey: SessionKey): Promise<DisplayTransform> {
    const { setup, capabilities } = this.#scope
    const find: DisplayContext['find'] = (capability) => capabilities.find(capability)
    const ctx: DisplayContext = { agent: { name: setup.name }, sessionKey, find }
    const transforms: DisplayTransform[] = []
    for (const { spec } of this.layers) {
      const transform = await spec.display?.(ctx)
      if (transform !== undefined) transforms.unshift(transform)
    }
    return (text) => transforms.reduce((shown, transform) => transform(shown), text)
  }

  /** Returns the onion with a run's layers inside, and `inner` inside these. Cached for each array and layer. */
  with(use: readonly Usable[] = none, inner?: Middleware): Onion {
    const compiled = this.#ofRuns.get(use) ?? new WeakMap<object, Onion>()
    this.#ofRuns.set(use, compiled)
    let onion = compiled.get(inner ?? use)
    if (onion === undefined) {
      const layers = toLayers(inner === undefined ? use : [...use, inner], undefined, this.layers.length)
      checkRunLayers(layers, this.#names)
      this.#scope.tools.checkSeenBy(layers.map(({ spec }) => spec))
      onion = wrapOnion(compileOnion(this.layers, layers), [...this.layers, ...layers])
      compiled.set(inner ?? use, onion)
    }
    return onion
  }

  /** Logs warnings. @throws AlliumError `layer.order` with all errors */
  checkOrder(mode: OrderCheck): void {
    if (mode === 'off') return
    const unchecked = uncheckedOrders(this.layers)
    if (unchecked.length > 0) this.#scope.setup.logger.warn(notChecked(unchecked), { layers: unchecked })
    const findings = checkOrder(this.layers)
    const errors = mode === 'error' ? findings.filter(({ severity }) => severity === 'error') : []
    for (const finding of findings)
      if (!errors.includes(finding)) this.#scope.setup.logger.warn(finding.message, { layers: finding.layers })
    if (errors.length === 0) return
    const messages = errors.map(({ message }) => message)
    throw new AlliumError('layer.order', messages.join('\n'), { details: { findings: errors } })
  }

  /** Returns every wrong order, and every tool that a layer does not admit or whose calls it would miss. */
  findings(): Finding[] {
    const unseen = [...this.#scope.tools.all()]
      .filter(isRunByProvider)
      .flatMap(({ name: tool }) =>
        this.layers
          .filter(({ spec }) => spec.guards?.(tool))
          .map(({ name }): Finding => ({ severity: 'error', layers: [name], message: unseenCalls({ name }, tool) })),
      )
    const refused = [...this.#scope.tools.all()].flatMap((tool) =>
      this.layers.flatMap(({ name, spec }): Finding[] => {
        const why = spec.tool === undefined ? undefined : spec.admits?.(tool)
        return why === undefined
          ? []
          : [{ severity: 'error', layers: [name], message: notAdmitted({ name }, tool.name, why) }]
      }),
    )
    return [...checkOrder(this.layers), ...unseen, ...refused]
  }

  #declare(added: readonly Layer[]): void {
    const { fields, tools } = this.#scope
    const [declared, savepoint] = [fields.size, tools.savepoint()]
    try {
      for (const { name, spec } of added)
        if (spec.state !== undefined) declareFields(fields, name, spec.state as Record<string, StateField<unknown>>)
      for (const { spec } of added) for (const tool of spec.tools ?? []) tools.add(tool)
    } catch (error) {
      for (const key of [...fields.keys()].slice(declared)) fields.delete(key)
      tools.rollback(savepoint)
      throw error
    }
  }
}

function notChecked(layers: readonly string[]): string {
  return `The order of ${layers.join(', ')} is not checked: @allium/core has no rules for it. Use the Agent of "allium", or set orderCheck: 'off'.`
}
