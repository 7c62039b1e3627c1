import { type Layer, scopeNames } from './middleware.ts'

/** A place in the onion that is wrong, why, and the right order. */
export interface Finding {
  severity: 'error' | 'warn'
  /** The two layers, in their right order, outer first; one where another is missing. */
  layers: string[]
  message: string
}

interface Rule {
  readonly outer: string
  readonly inner: string
  readonly reason: string
  readonly severity?: 'warn'
  readonly scope?: 'tool'
}

/** The classic wrong orders. */
const rules: readonly Rule[] = [
  { outer: 'retries', inner: 'meters', reason: 'or repeated attempts go uncounted' },
  { outer: 'redacts', inner: 'caches', reason: 'or the cache keeps raw text' },
  { outer: 'redacts', inner: 'observes', reason: 'or raw text is logged' },
  { outer: 'redacts', inner: 'persists', reason: 'or raw text is stored' },
  { outer: 'shapes', inner: 'caches', reason: 'or the key is not what is sent' },
  { outer: 'caches', inner: 'meters', reason: 'or a hit is charged' },
  { outer: 'caches', inner: 'repairs', reason: 'or invalid answers are kept' },
  { outer: 'mutates', inner: 'authorizes', reason: 'or other arguments run than were authorised' },
  { outer: 'authorizes', inner: 'caches', reason: 'or a cached result gets round the policy', scope: 'tool' },
  { outer: 'limits', inner: 'caches', reason: 'or hits do not count against the limit', severity: 'warn' },
  { outer: 'blocks', inner: 'retries', reason: 'or each attempt is checked again', severity: 'warn' },
]

/** Every wrong order among the layers, each with its reason. */
export function checkOrder(layers: readonly Layer[]): Finding[] {
  const findings: Finding[] = []
  for (const inner of layers)
    for (const outer of layers) {
      if (inner === outer || !standsOutside(layers, inner, outer)) continue
      for (const rule of rules)
        if (breaks(rule, outer, inner)) findings.push(finding(outer, inner, rule.reason, rule.severity))
      if (matches(inner.spec.order?.inside, outer))
        findings.push(finding(outer, inner, `because "${inner.name}" asks to be inside "${outer.name}"`))
      if (matches(outer.spec.order?.outside, inner))
        findings.push(finding(outer, inner, `because "${outer.name}" asks to be outside "${inner.name}"`))
    }
  return [...findings, ...checkCapabilities(layers)]
}

/** Whether `a` is entered before `b` where both have hooks, or in a scope outside where they share none. */
function standsOutside(layers: readonly Layer[], a: Layer, b: Layer): boolean {
  const shared = scopeNames.filter((scope) => a.spec[scope] !== undefined && b.spec[scope] !== undefined)
  if (shared.length > 0) return shared.some((scope) => depth(layers, a, scope) < depth(layers, b, scope))
  const [scopeOfA, scopeOfB] = [outermost(a), outermost(b)]
  return scopeOfA >= 0 && scopeOfA < scopeNames.indexOf('model') && scopeOfA < scopeOfB
}

function depth(layers: readonly Layer[], layer: Layer, scope: string): number {
  const innermost = layer.spec.innermost === true && (scope === 'model' || scope === 'tool')
  return layers.indexOf(layer) + (innermost ? layers.length : 0)
}

function breaks({ outer, inner, scope }: Rule, a: Layer, b: Layer): boolean {
  if (scope !== undefined && (a.spec[scope] === undefined || b.spec[scope] === undefined)) return false
  return a.spec.order?.is?.includes(outer) === true && b.spec.order?.is?.includes(inner) === true
}

function matches(wanted: readonly string[] | undefined, { name, spec }: Layer): boolean {
  return wanted?.some((one) => one === name || spec.order?.is?.includes(one) === true) === true
}

function outermost({ spec }: Layer): number {
  return scopeNames.findIndex((scope) => spec[scope] !== undefined)
}

function finding(outer: Layer, inner: Layer, reason: string, severity: Finding['severity'] = 'error'): Finding {
  return {
    severity,
    layers: [outer.name, inner.name],
    message: `"${inner.name}" stands outside "${outer.name}". Register "${outer.name}" first, then "${inner.name}", ${reason}.`,
  }
}

function checkCapabilities(layers: readonly Layer[]): Finding[] {
  return layers.flatMap((layer, place) =>
    (layer.spec.requires ?? []).flatMap(({ name }): Finding[] => {
      const provider = layers.findIndex(({ spec }) => spec.provides?.some((one) => one.name === name))
      if (provider >= 0 && provider < place) return []
      const other = layers[provider]
      if (other === undefined)
        return [
          {
            severity: 'error',
            layers: [layer.name],
            message: `"${layer.name}" requires the capability "${name}", which no layer provides. Register one that provides it before "${layer.name}".`,
          },
        ]
      return [finding(other, layer, `because it provides the capability "${name}"`)]
    }),
  )
}
