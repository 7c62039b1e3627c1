import type { Layer } from './middleware.ts'

/** A wrong order of layers, with the reason and the right order. */
export interface Finding {
  severity: 'error' | 'warn'
  /** The two layers in their right order, outer first; a single layer if the other one is missing. */
  layers: string[]
  message: string
}

/** Returns every wrong order among the layers that breaks a rule or the `inside` and `outside` of a layer, each with its reason. */
export type OrderRules = (layers: readonly Layer[]) => Finding[]

let orderRules: OrderRules | undefined

/** Sets the rules that all agents check. `allium` does when it is imported. Without rules, the order of layers is not checked. */
export function setOrderRules(rules: OrderRules | undefined): void {
  orderRules = rules
}

/** Returns every wrong order among the layers, and every capability that a layer requires and no outer layer provides. */
export function checkOrder(layers: readonly Layer[]): Finding[] {
  return [...(orderRules?.(layers) ?? []), ...checkCapabilities(layers)]
}

/** Returns the layers that declare an order which nothing checks. */
export function uncheckedOrders(layers: readonly Layer[]): string[] {
  return orderRules === undefined ? layers.filter(({ spec }) => spec.order !== undefined).map(({ name }) => name) : []
}

function checkCapabilities(layers: readonly Layer[]): Finding[] {
  const providers = new Map<string, number[]>()
  for (const [position, { spec }] of layers.entries())
    for (const { name } of spec.provides ?? []) {
      const before = providers.get(name) ?? []
      if (before.length < 2) providers.set(name, [...before, position])
    }
  return layers.flatMap((layer, position) =>
    (layer.spec.requires ?? []).flatMap(({ name }): Finding[] => {
      const provider = providers.get(name)?.find((other) => other !== position)
      if (provider !== undefined && provider < position) return []
      return [missing(layer, name, provider === undefined ? undefined : layers[provider])]
    }),
  )
}

function missing({ name }: Layer, capability: string, provider: Layer | undefined): Finding {
  const severity = 'error'
  if (provider === undefined)
    return {
      severity,
      layers: [name],
      message: `"${name}" requires the capability "${capability}", which no layer provides. Register one that does before "${name}".`,
    }
  return {
    severity,
    layers: [provider.name, name],
    message: `"${name}" is outside "${provider.name}". Register "${provider.name}" first, then "${name}", because it provides the capability "${capability}".`,
  }
}
