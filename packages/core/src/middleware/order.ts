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
  const placed = layers.map((layer, i) => ({ layer, depths: depthsOf(layer, i, layers.length) }))
  const ordered = placed.filter(({ layer: { spec } }) => spec.order !== undefined)
  const findings = ordered.flatMap((one) =>
    placed.flatMap((other) => (one === other ? [] : checkPair(one, other, ordered.includes(other)))),
  )
  return [...findings, ...checkCapabilities(layers)]
}

/** A layer with its place in each scope that it hooks. */
interface Placed {
  readonly layer: Layer
  readonly depths: readonly (number | undefined)[]
}

/** What is wrong about two layers, of which the first declares an order. `both`: the other does too, and is asked itself. */
function checkPair(one: Placed, other: Placed, both: boolean): Finding[] {
  const { order } = one.layer.spec
  const findings: Finding[] = []
  if (standsOutside(one, other)) {
    if (both)
      for (const rule of rules)
        if (breaks(rule, other.layer, one.layer))
          findings.push(finding(other.layer, one.layer, rule.reason, rule.severity))
    if (matches(order?.inside, other.layer))
      findings.push(
        finding(other.layer, one.layer, `because "${one.layer.name}" asks to be inside "${other.layer.name}"`),
      )
  }
  if (matches(order?.outside, other.layer) && standsOutside(other, one))
    findings.push(
      finding(one.layer, other.layer, `because "${one.layer.name}" asks to be outside "${other.layer.name}"`),
    )
  return findings
}

/** Whether `a` is entered before `b` where both have hooks, or in a scope outside where they share none. */
function standsOutside(a: Placed, b: Placed): boolean {
  let shared = false
  for (const [scope, depth] of a.depths.entries()) {
    const other = b.depths[scope]
    if (depth === undefined || other === undefined) continue
    if (depth < other) return true
    shared = true
  }
  if (shared) return false
  const [scopeOfA, scopeOfB] = [outermost(a), outermost(b)]
  return scopeOfA >= 0 && scopeOfA < scopeNames.indexOf('model') && scopeOfA < scopeOfB
}

function depthsOf({ spec }: Layer, place: number, count: number): (number | undefined)[] {
  const inner = place + (spec.innermost === true ? count : 0)
  return scopeNames.map((scope) =>
    spec[scope] === undefined ? undefined : scope === 'model' || scope === 'tool' ? inner : place,
  )
}

function breaks({ outer, inner, scope }: Rule, a: Layer, b: Layer): boolean {
  if (scope !== undefined && (a.spec[scope] === undefined || b.spec[scope] === undefined)) return false
  return a.spec.order?.is?.includes(outer) === true && b.spec.order?.is?.includes(inner) === true
}

function matches(wanted: readonly string[] | undefined, { name, spec }: Layer): boolean {
  return wanted?.some((one) => one === name || spec.order?.is?.includes(one) === true) === true
}

function outermost({ depths }: Placed): number {
  return depths.findIndex((depth) => depth !== undefined)
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
