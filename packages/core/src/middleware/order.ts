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
        if (breaks(rule, other.layer, one.layer)) findings.push(finding(other, one, rule.reason, rule.severity))
    if (matches(order?.inside, other.layer))
      findings.push(finding(other, one, `because "${one.layer.name}" asks to be inside "${other.layer.name}"`))
  }
  if (matches(order?.outside, other.layer) && standsOutside(other, one))
    findings.push(finding(one, other, `because "${one.layer.name}" asks to be outside "${other.layer.name}"`))
  return findings
}

/** Whether `a` is entered before `b` where both have hooks, or in a scope outside where they share none. */
function standsOutside(a: Placed, b: Placed): boolean {
  const shared = sharedScope(a, b)
  if (shared !== undefined) return (a.depths[shared] as number) < (b.depths[shared] as number)
  return nests(a, b)
}

/** A scope that both hook: of turn, model and tool first; what opens an agent or a session counts where there is nothing else. */
function sharedScope(a: Placed, b: Placed): number | undefined {
  const scopes = seesCalls(a) && seesCalls(b) ? callScopes : gateScopes
  return scopes.find((scope) => a.depths[scope] !== undefined && b.depths[scope] !== undefined)
}

function seesCalls({ depths }: Placed): boolean {
  return callScopes.some((scope) => depths[scope] !== undefined)
}

/** Whether the outermost scope of `a` holds that of `b`; model and tool stand side by side. */
function nests(a: Placed, b: Placed): boolean {
  const [scopeOfA, scopeOfB] = [outermost(a), outermost(b)]
  return scopeOfA >= 0 && scopeOfA < scopeNames.indexOf('model') && scopeOfA < scopeOfB
}

/** Places in `scopeNames`: agent and session, which stay open; turn, model and tool. */
const gateScopes: readonly number[] = [0, 1]
const callScopes: readonly number[] = [2, 3, 4]

/** Its place in each scope that it hooks; `innermost` counts as inside all others everywhere. */
function depthsOf({ spec }: Layer, place: number, count: number): (number | undefined)[] {
  const depth = place + (spec.innermost === true ? count : 0)
  return scopeNames.map((scope) => (spec[scope] === undefined ? undefined : depth))
}

function breaks({ outer, inner, scope }: Rule, a: Layer, b: Layer): boolean {
  if (scope !== undefined && (a.spec[scope] === undefined || b.spec[scope] === undefined)) return false
  return a.spec.order?.is?.includes(outer) === true && b.spec.order?.is?.includes(inner) === true
}

function matches(wanted: readonly string[] | undefined, { name, spec }: Layer): boolean {
  return wanted?.some((one) => one === name || spec.order?.is?.includes(one) === true) === true
}

/** The scope where a layer begins to see calls; an agent's or a session's where it hooks nothing else. */
function outermost({ depths }: Placed): number {
  const call = callScopes.find((scope) => depths[scope] !== undefined)
  return call ?? depths.findIndex((depth) => depth !== undefined)
}

function finding(outer: Placed, inner: Placed, reason: string, severity: Finding['severity'] = 'error'): Finding {
  const [a, b] = [outer.layer, inner.layer]
  return {
    severity,
    layers: [a.name, b.name],
    message: `"${b.name}" stands outside "${a.name}". ${mend(outer, inner)}, ${reason}.`,
  }
}

/** How the two come into their right order: by their registration, where that decides. */
function mend(outer: Placed, inner: Placed): string {
  const [a, b] = [outer.layer, inner.layer]
  if (a.spec.innermost === true && b.spec.innermost !== true)
    return `"${a.name}" is innermost, and so inside it wherever it is registered: declare "${b.name}" innermost too, behind it, or "${a.name}" not`
  if (sharedScope(outer, inner) !== undefined) return `Register "${a.name}" first, then "${b.name}"`
  const [scopeOfA, scopeOfB] = [scopeNames[outermost(outer)], scopeNames[outermost(inner)]]
  return `It hooks ${scopeOfB}, which holds ${scopeOfA}: let "${a.name}" hook ${scopeOfB} too and register it first, then "${b.name}"`
}

function checkCapabilities(layers: readonly Layer[]): Finding[] {
  return layers.flatMap((layer, place) =>
    (layer.spec.requires ?? []).flatMap(({ name }): Finding[] => {
      const provider = layers.findIndex(
        (other) => other !== layer && other.spec.provides?.some((one) => one.name === name),
      )
      if (provider >= 0 && provider < place) return []
      return [missing(layer, name, layers[provider])]
    }),
  )
}

function missing({ name }: Layer, capability: string, provider: Layer | undefined): Finding {
  const severity = 'error'
  if (provider === undefined)
    return {
      severity,
      layers: [name],
      message: `"${name}" requires the capability "${capability}", which no layer provides. Register one that provides it before "${name}".`,
    }
  return {
    severity,
    layers: [provider.name, name],
    message: `"${name}" stands outside "${provider.name}". Register "${provider.name}" first, then "${name}", because it provides the capability "${capability}".`,
  }
}
